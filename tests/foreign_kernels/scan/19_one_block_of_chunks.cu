// buffers: X i64<1000 in [N], Y i64 out [N]
// sizes: N=1; N=300; N=5003
// evo:launch prefix_long(X, Y, i64(N)) grid(1) block(256)
typedef long long ll;

// Each thread adds up a chunk, the first one the chunks; exclusive.
__global__ void prefix_long(const ll *a, ll *b, ll n)
{
    __shared__ ll part[256];
    const int t = threadIdx.x;
    const ll chunk = (n + 255) / 256;
    const ll lo = t * chunk, hi = lo + chunk < n ? lo + chunk : n;
    ll s = 0;
    for (ll i = lo; i < hi; i++) s += a[i];
    part[t] = s;
    __syncthreads();
    if (t == 0) {
        ll run = 0;
        for (int k = 0; k < 256; k++) {
            ll v = part[k];
            part[k] = run;
            run += v;
        }
    }
    __syncthreads();
    s = part[t];
    for (ll i = lo; i < hi; i++) {
        b[i] = s;
        s += a[i];
    }
}

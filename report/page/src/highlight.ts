// CUDA source as spans. It knows words, numbers, strings, comments and directives, which is all that colours need.
import { h, visible } from "./dom";

const kKeywords = new Set(("alignas auto bool break case char class const constexpr continue default do double else enum extern float for goto if inline int long namespace "
  + "operator private public return short signed sizeof static struct switch template this typedef typename union unsigned using void volatile while asm "
  + "true false nullptr half __half __half2 half2 __nv_bfloat16 size_t int8_t int32_t int64_t uint8_t uint32_t uint64_t float2 float4 int4 uint4 dim3").split(" "));
const kCuda = new Set(("__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__ threadIdx blockIdx blockDim gridDim warpSize "
  + "__syncthreads __syncwarp __shfl_xor_sync __shfl_down_sync __shfl_sync __ldg atomicAdd").split(" "));

const kToken = /(\/\*|\/\/.*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[A-Za-z_]\w*|\.?\d(?:[\w.]|[eEpP][+-])*)/g;

export interface HighlightState {
  comment: boolean;
}

// The nodes of one line. `state` goes from line to line: a comment may go on.
export function highlightLine(line: string, state: HighlightState): Node[] {
  const nodes: Node[] = [];
  const plain = (text: string) => text && nodes.push(document.createTextNode(visible(text)));
  const span = (kind: string, text: string) => nodes.push(h("span", { class: kind }, text));
  let at = 0;
  if (state.comment) {
    const end = line.indexOf("*/");
    if (end < 0) {
      span("t-comment", line);
      return nodes;
    }
    span("t-comment", line.slice(0, end + 2));
    at = end + 2;
    state.comment = false;
  } else if (/^\s*#/.test(line)) {
    span("t-directive", line);
    return nodes;
  }
  kToken.lastIndex = at;
  for (let match = kToken.exec(line); match; match = kToken.exec(line)) {
    plain(line.slice(at, match.index));
    const token = match[0];
    at = match.index + token.length;
    if (token === "/*") {
      const end = line.indexOf("*/", at);
      const stop = end < 0 ? line.length : end + 2;
      span("t-comment", line.slice(match.index, stop));
      at = stop;
      state.comment = end < 0;
      kToken.lastIndex = at;
    } else if (token.startsWith("//")) span("t-comment", token);
    else if (token[0] === '"' || token[0] === "'") span("t-string", token);
    else if (/^[.\d]/.test(token)) span("t-number", token);
    else if (kKeywords.has(token)) span("t-keyword", token);
    else if (kCuda.has(token)) span("t-cuda", token);
    else plain(token);
  }
  plain(line.slice(at));
  return nodes;
}

# Installs into WORK what SOURCE/package-lock.json names, without the packages that only tests need. Given: NPM, SOURCE, WORK.
file(MAKE_DIRECTORY ${WORK})
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${WORK})
execute_process(COMMAND ${NPM} ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
  WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "npm ci failed: ${output}\nWithout a network: configure with -DEVO_REPORT_PAGE=OFF, which leaves out evo report and evo serve")
endif()

# `cmake --install` puts everything where the unit looks for it, and leaves settings alone that are
# there: cmake -DBUILD=DIR -DSYSCONF=DIR -DPREFIX=DIR -P install_test.cmake
set(STAGE ${BUILD}/install-test)
file(REMOVE_RECURSE ${STAGE})
set(ENV{DESTDIR} ${STAGE})

function(install_all)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} ${ARGN}
    RESULT_VARIABLE RESULT OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE OUTPUT)
  if(NOT RESULT EQUAL 0)
    message(FATAL_ERROR "the installation failed:\n${OUTPUT}")
  endif()
endfunction()

install_all()
foreach(FILE bin/epochd bin/epoch lib/systemd/system/epochd.service lib/sysusers.d/epochd.conf
        lib/tmpfiles.d/epochd.conf share/doc/epochd/operations.md)
  if(NOT EXISTS ${STAGE}${PREFIX}/${FILE})
    message(FATAL_ERROR "${FILE} is not installed")
  endif()
endforeach()
if(NOT EXISTS ${STAGE}${SYSCONF}/epochd/epochd.yaml)
  message(FATAL_ERROR "the settings are not installed")
endif()

execute_process(COMMAND ${STAGE}${PREFIX}/bin/epoch check-config
                        ${STAGE}${SYSCONF}/epochd/epochd.yaml RESULT_VARIABLE RESULT)
if(NOT RESULT EQUAL 0)
  message(FATAL_ERROR "the installed program refuses the installed settings")
endif()

file(WRITE ${STAGE}${SYSCONF}/epochd/epochd.yaml "threads: 7\n")
install_all()
file(READ ${STAGE}${SYSCONF}/epochd/epochd.yaml SETTINGS)
if(NOT SETTINGS STREQUAL "threads: 7\n")
  message(FATAL_ERROR "the administrator's settings were overwritten")
endif()

# A prefix that is chosen only now is in the unit as well.
foreach(CHOICE /usr:/etc /opt/prover:/etc/opt/prover /srv:/srv/etc)
  string(REPLACE ":" ";" CHOICE ${CHOICE})
  list(GET CHOICE 0 PREFIX)
  list(GET CHOICE 1 SYSCONF)
  install_all(--prefix ${PREFIX})
  file(READ ${STAGE}${PREFIX}/lib/systemd/system/epochd.service UNIT)
  string(FIND "${UNIT}"
    "\nExecStart=${PREFIX}/bin/epochd --config ${SYSCONF}/epochd/epochd.yaml\n" AT)
  if(AT EQUAL -1 OR NOT EXISTS ${STAGE}${SYSCONF}/epochd/epochd.yaml)
    message(FATAL_ERROR "installed below ${PREFIX}, the unit starts something else:\n${UNIT}")
  endif()
endforeach()
file(REMOVE_RECURSE ${STAGE})

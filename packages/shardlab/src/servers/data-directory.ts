/**
 * How a server reports that it cannot use the directory of `--dbpath`. Server:
 * storage_engine_lock_file.cpp, storage_engine_metadata.cpp, wiredtiger_kv_engine.cpp,
 * mongod_main.cpp.
 */
import type { DirectoryProblem, ServerDirectoryError } from '@shardlab/cluster'
import { serverExitCodes } from './server-error.js'
import type { LogLine } from './server-log.js'

const context = 'initandlisten'

/** @returns the line of the log, and the exit code */
export function reportOf(
  { problem, message }: ServerDirectoryError,
  { dbPath, storageEngine }: { readonly dbPath: string; readonly storageEngine: string },
): { readonly line: LogLine; readonly exitCode: number } {
  if (problem === 'damaged')
    return {
      line: {
        ...{ severity: 'F', component: 'STORAGE', id: 28595, context },
        ...{ message: 'Terminating.', attributes: { reason: message } },
      },
      exitCode: serverExitCodes.abrupt,
    }
  if (problem === 'other-version')
    return {
      line: {
        ...{ severity: 'F', component: 'CONTROL', id: 20573, context },
        ...{ message: 'Wrong mongod version', attributes: { error: message } },
      },
      exitCode: serverExitCodes.needDowngrade,
    }
  return {
    line: {
      ...{ severity: 'E', component: 'CONTROL', id: 20557, context },
      message: 'DBException in initAndListen, terminating',
      attributes: { error: exceptionOf(problem, message, dbPath, storageEngine) },
    },
    exitCode: serverExitCodes.uncaught,
  }
}

function exceptionOf(
  problem: Exclude<DirectoryProblem, 'damaged' | 'other-version'>,
  message: string,
  path: string,
  engine: string,
): string {
  switch (problem) {
    case 'missing':
      return `NonExistentPath: Data directory ${path} not found. Create the missing directory or specify another path using (1) the --dbpath command line option, or (2) by adding the 'storage.dbPath' option in the configuration file.`
    case 'in-use':
      return `DBPathInUse: Unable to lock the lock file: ${path}/mongod.lock (Resource temporarily unavailable). ${message}`
    case 'read-only':
      return `IllegalOperation: Attempted to create a lock file on a read-only directory: ${path}`
    case 'other-engine':
      return `Location28662: Cannot start server. Detected data files in ${path} created by the 'wiredTiger' storage engine, but the specified storage engine was '${engine}'.`
    case 'other-data':
      return `IllegalOperation: ${message}`
  }
}

/** The Stable API's parameters. Manual: reference/stable-api; server: validate_api_parameters.cpp. */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

/** Commands of API version 1. */
const versionOneCommands: ReadonlySet<string> = new Set([
  'abortTransaction',
  'aggregate',
  'bulkWrite',
  'collMod',
  'commitTransaction',
  'count',
  'create',
  'createIndexes',
  'delete',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'endSessions',
  'explain',
  'find',
  'findAndModify',
  'getMore',
  'hello',
  'insert',
  'killCursors',
  'listCollections',
  'listDatabases',
  'listIndexes',
  'ping',
  'refreshSessions',
  'update',
])

/** @throws CommandError 4886600, 322 APIVersionError, 323 APIStrictError */
export function checkApiVersion(args: CommandArguments, command: string): void {
  const version = args.string('apiVersion')
  if (version === undefined) {
    if (args.has('apiStrict') || args.has('apiDeprecationErrors')) {
      throw new CommandError(4886600, 'Provided apiStrict and/or apiDeprecationErrors without passing apiVersion')
    }
    return
  }
  if (version === '2') throw new CommandError('APIVersionError', 'Cannot accept API version 2')
  if (version !== '1') throw new CommandError('APIVersionError', 'API version must be "1"')
  if (args.bool('apiStrict') === true && !versionOneCommands.has(command)) {
    throw new CommandError('APIStrictError', `Provided apiStrict:true, but the command ${command} is not in API Version 1`)
  }
}

/** Which commands there are, and their arguments. */
import { row } from '../row.js'

export const commandBehaviours = {
  bulkWriteCommand: row<boolean>('There is a bulkWrite command.', 'reference/command/bulkWrite', ['2.6', false], ['8.0', true]),
  updateSort: row<boolean>('An update of one document may name a sort.', 'reference/command/update, sort', ['2.6', false], ['8.0', true]),
  writeStatementHints: row<boolean>(
    'Statements of update and delete may name an index.',
    'reference/command/update and delete, hint',
    ['2.6', false],
    ['4.4', true],
  ),
  indexCommitQuorum: row<boolean>(
    'The answer to createIndexes tells which members had to be ready.',
    'reference/command/createIndexes, commitQuorum; create_indexes.idl',
    ['2.6', false],
    ['4.4', true],
  ),
  letInCommands: row<boolean>(
    'Reading and writing commands take variables as let.',
    'reference/command/update and find, let',
    ['2.6', false],
    ['5.0', true],
  ),
  stableApi: row<boolean>(
    'There are commands to try the Stable API with.',
    'test_deprecation_command.cpp, test_api_version_2_commands.cpp; reference/stable-api, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  collectionUuidArgument: row<boolean>(
    'Commands on collections take collectionUUID.',
    'collection_uuid_mismatch.cpp, new in 6.0',
    ['2.6', false],
    ['6.0.2', true],
  ),
  getMoreNeedsPositiveBatchSize: row<boolean>(
    'getMore refuses a batchSize of 0; otherwise it means the default.',
    'getmore_request.cpp up to 4.4, getmore_command.idl',
    ['2.6', true],
    ['5.0', false],
  ),
  snapshotReads: row<boolean>(
    'Reads outside of transactions may have read concern snapshot.',
    'reference/read-concern-snapshot',
    ['2.6', false],
    ['5.0', true],
  ),
  sortsUseDiskByDefault: row<boolean>(
    'A find whose sort outgrows its memory goes on unless it says allowDiskUse: false.',
    'reference/parameters, allowDiskUseByDefault',
    ['2.6', false],
    ['6.0.2', true],
  ),
  executorErrorsNameCollection: row<boolean>(
    'Errors that come up while a find runs name its collection.',
    'find_cmd.cpp, addContext',
    ['2.6', false],
    ['8.0', true],
  ),
  distinctTakesHint: row<boolean>(
    'distinct has the hint argument.',
    'reference/command/distinct, new in 7.1',
    ['2.6', false],
    ['8.0', true],
  ),
  searchIndexCommands: row<boolean>(
    'The commands for search indexes exist, if only to say that there is no search.',
    'reference/command/createSearchIndexes, new in 7.0 and 6.0.7',
    ['2.6', false],
    ['6.0', true],
  ),
  implicitDefaultConcerns: row<boolean>(
    'getDefaultRWConcern names the read and write concern that hold where nobody set any.',
    'reference/command/getDefaultRWConcern, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  metadataConsistencyCheck: row<boolean>(
    'There is checkMetadataConsistency.',
    'reference/command/checkMetadataConsistency, new in 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
  nonces: row<boolean>('There is getnonce.', 'authentication_commands.cpp; gone since 6.2', ['2.6', true], ['7.0', false]),
  validateTellsOfRepairs: row<boolean>(
    'validate says whether it repaired something, and lists corrupt records.',
    'reference/command/validate, changed in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  validateChecksSchema: row<boolean>(
    'validate counts documents that do not comply with the validator.',
    'SERVER-80177; validate_adaptor.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  validateNamesUuid: row<boolean>(
    'validate gives the UUID of the collection.',
    'reference/command/validate, uuid, new in 6.2',
    ['2.6', false],
    ['7.0', true],
  ),
  validateOptionsAreInvalidOptions: row<boolean>(
    'Options of validate that exclude each other are InvalidOptions instead of CommandNotSupported.',
    'validate.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  writeConcernIsTyped: row<boolean>(
    'A write concern is checked like the arguments of commands, and may ask for tags.',
    'write_concern_options.cpp, write_concern_idl.idl; release notes 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
}

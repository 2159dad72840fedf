/** Writes on sharded collections. */
import { row } from '../row.js'

export const writeBehaviours = {
  writeErrorsNameTargeter: row<boolean>(
    'When no route is found, the error of a write batch begins with "unable to initialize targeter for write op for collection".',
    'cluster_write.cpp until 4.4; collection_routing_info_targeter.cpp',
    ['2.6', false],
    ['4.0', true],
    ['5.0', false],
  ),
  singleWritesTargetByQuery: row<boolean>(
    'A findAndModify or a delete of one document without the full shard key runs if its filter targets one shard.',
    'SERVER-44422 of July 2023, also in 5.0 and 6.0; later versions run any such write',
    ['2.6', false],
    ['5.0', true],
    ['6.0.2', false],
    ['6.0', true],
  ),
  shardKeyUpdatesNeedFullKey: row<boolean>(
    'An update that changes the shard key value needs the full shard key in its filter (31025). In every version it must be a retryable write (20).',
    'update_stage.cpp, $_allowShardKeyUpdatesWithoutFullShardKeyInQuery; featureFlagUpdateOneWithoutShardKey, which is on since 7.1',
    ['2.6', true],
    ['8.0', false],
  ),
  multiShardKeyUpdatesAreRefusedFirst: row<boolean>(
    'An update of many documents that changes shard key values fails with 72 before its filter is checked (31025).',
    'update_stage.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  shardKeyChangesAreBinary: row<boolean>(
    'A change of the number type changes a shard key value, though both values compare as equal.',
    'update_stage.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  invalidIdHasOwnCode: row<boolean>(
    'An _id of a type that is not allowed fails with InvalidIdField 53; otherwise with BadValue 2.',
    'insert.cpp, fixDocumentForInsert; storage_validation.cpp, storageValidIdField, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  routersCheckUpdatesOf: row<'all' | 'sharded'>(
    'A router checks whether operators and plain fields are mixed in updates of all collections, or of sharded ones.',
    'chunk_manager_targeter.cpp, getUpdateExprType, since 5.0 validateUpdateDoc',
    ['2.6', 'all'],
    ['5.0', 'sharded'],
  ),
  routersRefuseMultiReplacements: row<boolean>(
    'A router refuses a replacement of many documents with 72, where it checks updates; otherwise the shard does, with 9.',
    'chunk_manager_targeter.cpp, getUpdateExprType, of 4.2',
    ['2.6', false],
    ['4.4', true],
  ),
  writesIncludeOrphans: row<boolean>(
    'Updates and deletes through a router include matching orphans on the shards that they go to, and count them.',
    'update_stage.cpp, delete_stage.cpp; SERVER-59832 in 5.3: write_stage_common.cpp, PreWriteFilter',
    ['2.6', true],
    ['6.0.2', false],
  ),
  writeErrorMessageFirst: row<boolean>(
    'In an entry of writeErrors the message precedes the other details; otherwise it follows them.',
    'write_ops.cpp, WriteError::serialize, new in 5.1; write_ops_exec.cpp, generateError',
    ['2.6', false],
    ['6.0.2', true],
  ),
  routerNamesWriteErrors: row<boolean>(
    "The router's writeErrors have a codeName, and of the shard's other details only errInfo.",
    'batched_command_response.cpp, write_error_detail.cpp, until 5.0',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
}

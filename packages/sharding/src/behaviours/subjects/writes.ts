/** Writes on sharded collections. */
import { row } from '../row.js'

export const writeBehaviours = {
  singleWritesTargetByQuery: row<boolean>(
    'A findAndModify, or a delete of one document, without the full shard key runs when its filter leads to one shard.',
    'SERVER-44422 of July 2023, in 5.0 and 6.0, too; later versions run any such write',
    ['2.6', false],
    ['5.0', true],
    ['6.0.2', false],
    ['6.0', true],
  ),
  shardKeyUpdatesNeedFullKey: row<'always' | 'by-id' | 'never'>(
    'Whose filter must have the full shard key to change its value (31025): all updates, those that name their document by _id, none. What is no retryable write may not change it in any version (20): SERVER-75119 and SERVER-74990 have kept that in 7.0.',
    'update_stage.cpp, write_without_shard_key_util.cpp',
    ['2.6', 'always'],
    ['7.0', 'by-id'],
    ['8.0', 'never'],
  ),
  multiShardKeyUpdatesAreRefusedFirst: row<boolean>(
    'An update of many documents that changes shard key values is refused for that (72) before its filter is looked at (31025).',
    'update_stage.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  shardKeyChangesAreBinary: row<boolean>(
    'Another number type is another shard key value, though it stands at the same place.',
    'update_stage.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  writeErrorMessageFirst: row<boolean>(
    'In an entry of writeErrors the message stands before what else is told; otherwise behind it.',
    'write_ops.cpp, WriteError::serialize, new in 5.1; write_ops_exec.cpp, generateError',
    ['2.6', false],
    ['6.0.2', true],
  ),
  routerNamesWriteErrors: row<boolean>(
    "The router's writeErrors have a codeName, and of what else a shard tells only errInfo.",
    'batched_command_response.cpp, write_error_detail.cpp, up to 5.0',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
}

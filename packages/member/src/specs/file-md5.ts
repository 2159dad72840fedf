/** Server: cluster_filemd5_cmd.cpp, dbcommands.cpp (CmdFileMD5). */
import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import type { CommandSpec } from './command-spec.js'
import { fileMd5Privileges } from '../access/definition-privileges.js'

export const fileMd5Spec = {
  name: 'filemd5',
  access: 'read',
  privileges: fileMd5Privileges,
  manual: 'reference/command/filemd5',
} as const satisfies CommandSpec

/** @throws CommandError 115 CommandNotSupported for a part of a file */
export function chunksNamespace(args: CommandArguments, db: string): string {
  if (args.bool('partialOk') === true)
    throw new CommandError('CommandNotSupported', 'filemd5 with partialOk is not supported')
  const root = args.value('root')
  return `${db}.${root?.type === BsonType.string ? root.asString() : 'fs'}.chunks`
}

/** `{ files_id: … }` */
export function chunksOfFile({ target }: CommandArguments): DocumentWriter {
  return new DocumentWriter(128).value('files_id', target)
}

import type { CommandRow } from '@shardlab/actor'
import { findAndModifyFields, readFindAndModify, checkLet } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { runFindAndModify } from '../writes/find-and-modify.js'

export const findAndModify: CommandRow<MongosInvocation> = {
  name: 'findAndModify',
  aliases: ['findandmodify'],
  routing: 'shard-key',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/findAndModify',
  status: 'partial',
  missing: 'updates that move a document to another shard',
  summary: 'Updates, replaces, upserts or deletes one document where it is and answers with it.',
  retryable: true,
  fields: findAndModifyFields,
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    checkLet(invocation)
    const request = readFindAndModify(args)
    return runFindAndModify(invocation, ns, request)
  },
}

import { DocumentWriter, findField } from '@shardlab/bson'
import type { Requester } from './remote.js'

/** The command with the comment of the operation that it serves. Server: remote_command_request.cpp. */
export function withComment(body: Uint8Array, requester: Requester): Uint8Array {
  const comment = requester?.comment ?? null
  return comment === null || findField(body, 'comment') !== undefined
    ? body
    : new DocumentWriter(body.length + comment.length).fields(body).fields(comment).finish()
}

import { DocumentWriter, findField } from '@shardlab/bson'
import type { RunningOperation } from '@shardlab/member'

/**
 * The command with the comment of the operation that it serves. Server: remote_command_request.cpp.
 */
export function withComment(body: Uint8Array, requester: RunningOperation | null): Uint8Array {
  const comment = requester?.comment ?? null
  return comment === null || findField(body, 'comment') !== undefined
    ? body
    : new DocumentWriter(body.length + comment.length).fields(body).fields(comment).finish()
}

import { DocumentWriter, findField } from '@shardlab/bson'

/**
 * The command with the comment of the operation that it serves, if it has none itself. Server:
 * remote_command_request.cpp.
 * @param comment `{ comment }`; null: none
 */
export function withComment(body: Uint8Array, comment: Uint8Array | null): Uint8Array {
  return comment === null || findField(body, 'comment') !== undefined
    ? body
    : new DocumentWriter(body.length + comment.length).fields(body).fields(comment).finish()
}

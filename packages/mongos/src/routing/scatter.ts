/** Server: async_requests_sender.cpp, scatterGather. */
import { CommandError, ErrorCodes } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { replyError } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'

export type MemberAnswer =
  /** `receiver`: the member of the set `member` that has replied. */
  | { readonly member: string; readonly receiver: string; readonly body: Uint8Array; readonly error: null }
  /** `answered`: the error is in the member's reply. */
  | {
      readonly member: string
      readonly body: Uint8Array | null
      readonly error: CommandError
      readonly answered: boolean
    }

/**
 * Waits for all members. Errors are part of the answers, which are in the order of the members.
 * @param batchBytesMax of the documents in a batch; default 0: 16 MB
 */
export function scatter(
  { host, operation }: MongosInvocation,
  members: readonly string[],
  commandFor: (member: string) => RemoteCommand,
  idempotent: boolean,
  batchBytesMax = 0,
): Promise<MemberAnswer[]> {
  const answers: MemberAnswer[] = []
  let missing = members.length
  if (missing === 0) return Promise.resolve(answers)
  // One promise for all members instead of several for each: a broadcast may have many.
  return new Promise((resolve, reject) => {
    members.forEach((member, i) => {
      const settle = (answer: MemberAnswer): void => {
        answers[i] = answer
        if (--missing === 0) resolve(answers)
      }
      host.remote
        .commandFor(
          member,
          commandFor(member),
          operation,
          idempotent,
          (reply, receiver) => answered(member, reply, receiver),
          batchBytesMax,
        )
        .then(settle, (error: unknown) => {
          try {
            settle(unanswered(member, error))
          } catch (unexpected) {
            reject(unexpected)
          }
        })
    })
  })
}

export function ask(
  { host, operation }: MongosInvocation,
  member: string,
  command: RemoteCommand,
  idempotent: boolean,
): Promise<MemberAnswer> {
  return host.remote
    .commandFor(member, command, operation, idempotent, (reply, receiver) => answered(member, reply, receiver))
    .catch((error: unknown) => unanswered(member, error))
}

export function answered(
  member: string,
  { body }: { readonly body: Uint8Array },
  receiver: string = member,
): MemberAnswer {
  const error = replyError(body)
  return error === null ? { member, receiver, body, error } : { member, body, error, answered: true }
}

/** @throws errors other than CommandError */
function unanswered(member: string, error: unknown): MemberAnswer {
  if (!(error instanceof CommandError)) throw error
  return { member, body: null, error, answered: false }
}

/** allowPartialResults leaves out such members. */
export function isUnreachable(answer: MemberAnswer): boolean {
  return answer.error !== null && !answer.answered && isUnreachableError(answer.error)
}

/**
 * HostUnreachable and FailedToSatisfyReadPreference: the errors of {@link Remote.command} for an
 * unreachable member.
 */
export function isUnreachableError({ code }: CommandError): boolean {
  return code === ErrorCodes.HostUnreachable || code === ErrorCodes.FailedToSatisfyReadPreference
}

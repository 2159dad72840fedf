/** The same command, or one each, to several members at once. Server: async_requests_sender.cpp, scatterGather. */
import { CommandError } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { replyError } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'

/** What one member answered: its reply, or why there is none. */
export type MemberAnswer =
  | { readonly member: string; readonly body: Uint8Array; readonly error: null }
  /** `answered`: the member itself said so. */
  | {
      readonly member: string
      readonly body: Uint8Array | null
      readonly error: CommandError
      readonly answered: boolean
    }

/** Waits for every member; errors are part of the answers, in the order of the members. */
export function scatter(
  { host, operation }: MongosInvocation,
  members: readonly string[],
  commandFor: (member: string) => RemoteCommand,
  idempotent: boolean,
): Promise<MemberAnswer[]> {
  const answers: MemberAnswer[] = []
  let missing = members.length
  if (missing === 0) return Promise.resolve(answers)
  // One promise for all: a broadcast to many shards would make several for each of them.
  return new Promise((resolve, reject) => {
    members.forEach((member, i) => {
      const settle = <V>(value: V, answerFor: (member: string, value: V) => MemberAnswer): void => {
        try {
          answers[i] = answerFor(member, value)
          if (--missing === 0) resolve(answers)
        } catch (error) {
          reject(error)
        }
      }
      host.remote.command(member, commandFor(member), operation, idempotent).then(
        (reply) => settle(reply, answered),
        (error: unknown) => settle(error, unanswered),
      )
    })
  })
}

/** One member. */
export function ask(
  { host, operation }: MongosInvocation,
  member: string,
  command: RemoteCommand,
  idempotent: boolean,
): Promise<MemberAnswer> {
  return host.remote.command(member, command, operation, idempotent).then(
    (reply) => answered(member, reply),
    (error: unknown) => unanswered(member, error),
  )
}

function answered(member: string, { body }: { readonly body: Uint8Array }): MemberAnswer {
  const error = replyError(body)
  return error === null ? { member, body, error } : { member, body, error, answered: true }
}

/** @throws what is no CommandError */
function unanswered(member: string, error: unknown): MemberAnswer {
  if (!(error instanceof CommandError)) throw error
  return { member, body: null, error, answered: false }
}

/** Is the member gone rather than unwilling? Those are what allowPartialResults passes over. */
export function isUnreachable(answer: MemberAnswer): boolean {
  return answer.error !== null && !answer.answered && isUnreachableError(answer.error)
}

/** 6 HostUnreachable, 133 FailedToSatisfyReadPreference: what {@link Remote.command} throws when nobody answers. */
export function isUnreachableError({ code }: CommandError): boolean {
  return code === 6 || code === 133
}

/** The same command, or one each, to several members at once. Server: async_requests_sender.cpp, scatterGather. */
import { CommandError } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import { replyError } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'

/** What one member answered: its reply, or why there is none. */
export type MemberAnswer =
  | { readonly member: string; readonly body: Uint8Array; readonly error: null }
  /** `answered`: the member itself said so. */
  | { readonly member: string; readonly body: Uint8Array | null; readonly error: CommandError; readonly answered: boolean }

/** Waits for every member; errors are part of the answers, in the order of the members. */
export function scatter(
  invocation: MongosInvocation,
  members: readonly string[],
  commandFor: (member: string) => RemoteCommand,
  idempotent: boolean,
): Promise<MemberAnswer[]> {
  return invocation.host.context.all(members.map((member) => ask(invocation, member, commandFor(member), idempotent)))
}

/** One member. */
export async function ask(
  invocation: MongosInvocation,
  member: string,
  command: RemoteCommand,
  idempotent: boolean,
): Promise<MemberAnswer> {
  try {
    const { body } = await invocation.host.remote.command(member, command, invocation.operation, idempotent)
    const error = replyError(body)
    return error === null ? { member, body, error } : { member, body, error, answered: true }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { member, body: null, error, answered: false }
  }
}

/** Is the member gone rather than unwilling? Those are what allowPartialResults passes over. */
export function isUnreachable(answer: MemberAnswer): boolean {
  return answer.error !== null && !answer.answered && isUnreachableError(answer.error)
}

/** 6 HostUnreachable, 133 FailedToSatisfyReadPreference: what {@link Remote.command} throws when nobody answers. */
export function isUnreachableError({ code }: CommandError): boolean {
  return code === 6 || code === 133
}

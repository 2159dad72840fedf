/** Admin commands that are wrong in one way each, and the server's answers. */
import type { Document } from 'mongodb'

/**
 * Versions under which the tables are tried. A case without versions is tried under the last three.
 */
export const triedVersions = ['2.6', '4.4', '7.0', '8.0'] as const
export type TriedVersion = (typeof triedVersions)[number]

/**
 * The reply's code; `none`: an error without a code; `ok`: this version accepts the input and
 * changes nothing.
 */
export type Answer = number | 'none' | 'ok'

export interface WrongInput {
  readonly what: string
  readonly command: Document
  /** `shard`: sent to the primary shard itself. */
  readonly to: 'router' | 'shard'
  readonly db: string
  readonly answers: Readonly<Record<TriedVersion, Answer | 'untried'>>
}

/**
 * By version: an answer, or `untried`, holds until the next version that is named. Under 2.6 only
 * cases that name it are tried.
 */
export type Answers = Answer | Partial<Readonly<Record<TriedVersion, Answer | 'untried'>>>

export function wrong(
  what: string,
  command: Document,
  answers: Answers,
  { db = 'admin', to = 'router' as WrongInput['to'] } = {},
): WrongInput {
  const named: Partial<Record<TriedVersion, Answer | 'untried'>> =
    typeof answers === 'object' ? answers : { '4.4': answers }
  const v44 = named['4.4'] ?? 'untried'
  const v70 = named['7.0'] ?? v44
  return {
    what,
    command,
    to,
    db,
    answers: { '2.6': named['2.6'] ?? 'untried', '4.4': v44, '7.0': v70, '8.0': named['8.0'] ?? v70 },
  }
}

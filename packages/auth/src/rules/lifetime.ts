/** In which releases an action, a role or a privilege of a role exists. Plain data. */

/** The releases of the emulated versions, in the spelling of `--emulate`. */
export type Release = '2.6' | '4.0' | '4.4' | '5.0' | '6.0.2' | '6.0' | '7.0' | '8.0'

export interface Lifetime {
  /** Absent: the oldest release has it. */
  readonly since?: Release
  /** The first release without it. Absent: the newest release has it. */
  readonly until?: Release
}

/** @param releases the emulated release and all older ones */
export function isAlive({ since, until }: Lifetime, releases: ReadonlySet<string>): boolean {
  return (since === undefined || releases.has(since)) && (until === undefined || !releases.has(until))
}

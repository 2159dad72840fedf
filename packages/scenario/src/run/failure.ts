/** A scenario cannot be played: what was to be done before its beginning has failed. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
}

/** What was thrown, as an error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

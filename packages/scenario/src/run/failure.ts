/** A scenario cannot be played: what was to be done before its beginning has failed. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
}

/** A simulation was stopped before its data were loaded: there is nothing to tell. */
export class InterruptedSimulation extends Error {
  override readonly name = 'InterruptedSimulation'
}

/** What was thrown, as an error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

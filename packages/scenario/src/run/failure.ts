/** The setup of a scenario failed. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
}

/** The simulation was stopped before its data were loaded, so there is nothing to report. */
export class InterruptedSimulation extends Error {
  override readonly name = 'InterruptedSimulation'
}

export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

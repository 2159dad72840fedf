/** A scenario cannot be played: what was to be done before its beginning has failed. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
}

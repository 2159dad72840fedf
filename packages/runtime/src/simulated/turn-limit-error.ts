export class TurnLimitError extends Error {
  override readonly name = 'TurnLimitError'

  constructor(turnsMax: number) {
    super(`the simulation has not ended after ${turnsMax} turns`)
  }
}

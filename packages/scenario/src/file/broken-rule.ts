import type { ScenarioSource } from './schema.js'

export interface BrokenRule {
  readonly path: readonly (string | number)[]
  readonly message: string
}

export type Rule = (scenario: ScenarioSource) => Generator<BrokenRule, void>

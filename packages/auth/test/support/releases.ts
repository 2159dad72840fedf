import { AccessRules, type Release } from '../../src/index.js'

export const releases: readonly Release[] = ['2.6', '4.0', '4.4', '5.0', '6.0.2', '6.0', '7.0', '8.0']

const rules = new Map(releases.map((release, i) => [release, new AccessRules(releases.slice(0, i + 1))]))

export const rulesOf = (release: Release): AccessRules => rules.get(release)!

import { exchange, type Empty } from './exchange.js'

/** Requests to the balancer. */
export const balancerExchanges = {
  'balancer.status': exchange<Empty, { mode: string; inBalancerRound: boolean; numBalancerRounds: number }>(
    {},
    { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 },
  ),
}

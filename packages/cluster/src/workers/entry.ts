/** Entry of every worker thread. */
import { evaluateBundle } from './bundle.js'

evaluateBundle().member.start()

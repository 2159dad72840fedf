import { playSwarmTask } from './swarm-task.js'

export default playSwarmTask

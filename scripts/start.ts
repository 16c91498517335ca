/** `npm start`: builds the nodes and starts a real n8n with them, and a simulated service. */
import { reportFailure, runSession } from './session';

runSession({ command: 'npm start' }).catch(reportFailure);

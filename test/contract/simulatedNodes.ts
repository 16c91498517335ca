import type { INode, INodeParameters } from 'n8n-workflow';
import { engineHarness, speedUp } from '../engine';
import { eventually } from '../n8n/until';
import { dialects, type Dialect, type Simulator } from '../simulator';
import { useSimulator } from '../simulator/testing/useSimulator';
import { credentialFor } from './credentialFor';

/** Nodes in n8n's engine, with one simulator for all tests of a file. */
export function simulatedNodes() {
	const harness = engineHarness();
	const simulator = useSimulator({ dialect: dialects.plain });
	return {
		harness,
		/** A simulator of the plain dialect. */
		simulator,
		/** A node with a credential for the simulator, including its profile. */
		nodeOf: async (type: string, parameters: INodeParameters): Promise<INode> => {
			const over = { id: type, webhookId: 'hook', parameters };
			return await harness.nodeWith(credentialFor(simulator()), type, over);
		},
	};
}

/** The clock of the nodes runs this many times faster. */
const SPEEDUP = 50;

/** A simulator for nodes with live connections, whose clock runs faster. */
export function simulatorWithSockets(dialect: Dialect): () => Simulator {
	beforeEach(() => speedUp(SPEEDUP));
	// Chat connections stay open for a moment after their last use. The next test needs new ones.
	afterEach(async () => {
		const closed = eventually(() => simulator().sessions.openSockets() === 0);
		await closed.finally(() => jest.restoreAllMocks());
	});
	const simulator = useSimulator({ dialect });
	return simulator;
}

import { startSimulator, type Simulator } from '..';
import type { SimulatorOptions } from '../simulator';

/** One simulator for the tests of a file or a `describe`. It's reset after each test. */
export function useSimulator(options: SimulatorOptions): () => Simulator {
	let simulator: Simulator | undefined;
	const running = () => {
		if (simulator === undefined) throw new Error('The simulator is not running yet');
		return simulator;
	};
	beforeAll(async () => {
		simulator = await startSimulator(options);
	});
	afterEach(() => running().reset());
	afterAll(async () => await simulator?.stop());
	return running;
}

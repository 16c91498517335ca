import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { credentialFor } from '../../contract/credentialFor';
import { dialects, filled, startSimulator, type Simulator } from '../../simulator';
import { fill } from '../../simulator/state/fill';
import { mockTime } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const { records } = nodeHarness('getCall');
let simulator: Simulator;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain, minGapMs: 1_000 });
});
beforeEach(() => {
	// A sleep advances the clock of the service instead of waiting.
	mockTime(() => simulator.clock.now());
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		simulator.clock.advance(ms);
		await Promise.resolve();
	});
});
afterEach(() => {
	jest.restoreAllMocks();
	simulator.reset();
});
afterAll(async () => await simulator.stop());

const fillCalls = () => {
	const { state, dialect } = simulator;
	fill(state, dialect, simulator.clock.now(), { calls: 300, dndPhones: 0, sessions: 0 });
};

describe('with Concurrency 1, a service that accepts one request per second', () => {
	test('returns all calls', async () => {
		fillCalls();
		const found = await records(
			{ operation: 'getMany', returnAll: true, developerSettings: { concurrency: 1 } },
			{ credential: credentialFor(simulator) },
		);
		expect(found).toHaveLength(340);
	});

	test('returns the latest call of each number', async () => {
		fillCalls();
		const found = await records(
			{
				operation: 'getMany',
				returnAll: true,
				options: { latestOfEachNumber: true },
				developerSettings: { concurrency: 1 },
			},
			{ credential: credentialFor(simulator) },
		);
		const numbers = new Set([...simulator.state.calls.values()].map(({ phone }) => phone));
		expect(found).toHaveLength(numbers.size);
	});

	test('returns each of many calls', async () => {
		fillCalls();
		const items = Array.from({ length: 60 }, (_, number) => ({ id: filled.callId(number) }));
		const found = await records(
			{ operation: 'get', callId: '={{ $json.id }}', developerSettings: { concurrency: 1 } },
			{ items, credential: credentialFor(simulator) },
		);
		expect(found.map(({ call_id: id }) => id)).toEqual(items.map(({ id }) => id));
	});
});

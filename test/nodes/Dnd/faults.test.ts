import { credentialFor } from '../../contract/credentialFor';
import { dialects, fixtures, startSimulator, type Fault, type Simulator } from '../../simulator';
import { nodeHarness } from '../nodeHarness';

const NEW = '+919800000088';
const { errorOf, records } = nodeHarness('dnd', {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
});

let simulator: Simulator;
beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain, token: 'tok-0123456789ab' });
});
afterEach(() => simulator.reset());
afterAll(async () => await simulator.stop());

const attempts = (method: string) =>
	simulator.requests.filter((request) => request.method === method).length;

describe.each([
	['add', 'POST', NEW],
	['remove', 'DELETE', fixtures.dndPhone],
])('%s', (operation, method, phone) => {
	const setting = () => ({ credential: credentialFor(simulator) });

	test.each<Fault>([
		{ kind: 'resetBefore' },
		{ kind: 'resetMiddle' },
		{ kind: 'resetAfter' },
		{ kind: 'html' },
		{ kind: 'html', afterHandling: true },
		{ kind: 'truncatedJson' },
		{ kind: 'status', status: 502, afterHandling: true },
		{ kind: 'status', status: 500 },
	])('%p: sent once, with an unknown outcome', async (fault) => {
		simulator.faults.inject({ ...fault, match: { method } });
		expect(await errorOf({ operation, phone }, setting())).toMatchObject({
			message: expect.stringMatching(/the outcome is unknown \(\+91\d{10}\)$/),
			description: expect.stringContaining(
				`use the Check operation to see whether ${phone} is on the list`,
			),
		});
		expect(attempts(method)).toBe(1);
	});

	test('too many requests: sent again', async () => {
		simulator.faults.inject({ kind: 'tooManyRequests', match: { method }, times: 2 });
		expect(await records({ operation, phone }, setting())).toHaveLength(1);
		expect(attempts(method)).toBe(3);
	});

	test('"success: false" at 200 is a rejection', async () => {
		simulator.faults.inject({ kind: 'successFalseAt200', match: { method } });
		expect((await errorOf({ operation, phone }, setting())).message).not.toContain('not known');
		expect(attempts(method)).toBe(1);
	});

	test('a redirect is not followed with the token', async () => {
		simulator.faults.inject({ kind: 'redirect', match: { method } });
		expect(await errorOf({ operation, phone }, setting())).toMatchObject({
			message: expect.stringContaining('redirect'),
		});
		expect(simulator.requests).toHaveLength(1);
	});
});

test('a list is read again after a network fault', async () => {
	simulator.faults.inject({ kind: 'resetMiddle', times: 1 });
	simulator.faults.inject({ kind: 'status', status: 503, times: 1 });
	const list = { operation: 'getMany', returnAll: true };
	expect(await records(list, { credential: credentialFor(simulator) })).toHaveLength(121);
	expect(attempts('GET')).toBe(4);
});

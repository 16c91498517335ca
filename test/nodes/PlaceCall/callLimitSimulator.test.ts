import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { INodeCredentials, INodeParameters, IRun } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../../contract/credentialFor';
import { mockTime, output } from '../../engine';
import { dialects, fixtures, type Fault } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { CONTINUE, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();
const PEOPLE = ['9876543210', '9876543211'];
const TIME_ZONE = 'Asia/Kolkata';
const FORMATS = [(phone: string) => phone, (phone: string) => `+91 ${phone}`];

/** What the service does with a call. */
const FAULTS: { [outcome: string]: { fault?: Fault; isPlaced: boolean; counts: boolean } } = {
	accepted: { isPlaced: true, counts: true },
	rejected: {
		fault: { kind: 'status', status: 400, body: { success: false, error: 'phone_number' } },
		isPlaced: false,
		counts: false,
	},
	lost: { fault: { kind: 'resetBefore' }, isPlaced: false, counts: true },
	unanswered: { fault: { kind: 'resetAfter' }, isPlaced: true, counts: true },
};

const execution = fc.record({
	/** Hours since the execution before. */
	hours: fc.constantFrom(0, 0, 1, 11, 12, 23, 24, 25, 49, 200, 800),
	people: fc.array(fc.tuple(fc.nat(1), fc.nat(1)), { minLength: 1, maxLength: 3 }),
	outcome: fc.constantFrom(...Object.keys(FAULTS)),
	atOnce: fc.constantFrom(1, 1, 2),
});

describe.each(Object.values(dialects))('the simulated service, dialect $name', (dialect) => {
	const simulator = useSimulator({ dialect });
	let parameters: INodeParameters;
	let credentials: INodeCredentials;
	let now: number;

	beforeAll(async () => {
		credentials = { [CREDENTIAL]: await harness.addCredential(credentialFor(simulator())) };
		parameters = {
			agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
			phoneNumber: '={{ $json.phone }}',
		};
	});
	beforeEach(() => {
		now = Math.ceil(Date.now() / 1_000) * 1_000;
		mockTime(() => now);
	});
	afterEach(() => jest.restoreAllMocks());

	const call = async (phones: string[], limit: INodeParameters): Promise<IRun> =>
		await harness.place(
			{ ...parameters, options: { callLimit: { limit } } },
			{
				items: phones.map((phone) => ({ phone })),
				over: { credentials, ...CONTINUE },
				settings: { timezone: TIME_ZONE },
			},
		);

	it('two simultaneous executions call a person once', async () => {
		const limit = { maximumCalls: 1, period: 'day' };
		const runs = await Promise.all([call(PEOPLE, limit), call(PEOPLE, limit)]);
		const placed = runs.flatMap((run) => output(run, 'Node').map(({ json }) => json.placed));
		expect(placed.sort()).toEqual([false, false, true, true]);
		expect(PEOPLE.map((phone) => simulator().callsTo(phone))).toEqual([1, 1]);
	});

	it('nobody gets more calls than allowed, and nobody below the limit is left out', async () => {
		const limits = fc.record({
			calls: fc.integer({ min: 1, max: 2 }),
			period: fc.constantFrom<'day' | 'week' | 'month'>('day', 'week', 'month'),
		});
		await fc.assert(
			fc.asyncProperty(limits, fc.array(execution, { maxLength: 6 }), async (limit, executions) => {
				simulator().reset();
				harness.store.clear();
				const counted = new Map<string, number[]>();
				const placedAt = new Map<string, number[]>();
				const { calls, period } = limit;
				const startOf = (time: number) =>
					DateTime.fromMillis(time, { zone: TIME_ZONE }).startOf(period).toMillis();
				const inPeriod = (times: number[] = []) =>
					times.filter((time) => startOf(time) === startOf(now)).length;
				for (const { hours, people, outcome, atOnce } of executions) {
					now += hours * 3_600_000;
					const { fault, isPlaced, counts } = FAULTS[outcome] ?? { isPlaced: false, counts: false };
					simulator().faults.clear();
					if (fault !== undefined)
						simulator().faults.inject({ ...fault, match: { path: '/v1/call' } });
					const before = new Map(PEOPLE.map((phone) => [phone, simulator().callsTo(phone)]));
					const { length: requestsBefore } = simulator().requests;
					const written = people.map(([who, format]) => [PEOPLE[who] ?? '', format] as const);
					const phones = written.map(([phone, format]) => FORMATS[format]?.(phone) ?? phone);
					await Promise.all(
						Array.from({ length: atOnce }, async () => {
							await call(phones, { maximumCalls: calls, period });
						}),
					);
					const expected = { least: 0, most: 0 };
					for (const phone of PEOPLE) {
						const inOne = written.filter(([one]) => one === phone).length;
						const room = calls - inPeriod(counted.get(phone));
						const sent = Math.max(0, Math.min(counts ? atOnce * inOne : inOne, room));
						expected.least += sent;
						// Another execution may reserve a rejected call after the first one has released it.
						expected.most += counts ? sent : atOnce * sent;
						const news = simulator().callsTo(phone) - (before.get(phone) ?? 0);
						expect(news).toBe(isPlaced ? sent : 0);
						const add = (map: Map<string, number[]>, count: number) =>
							map.set(phone, [...(map.get(phone) ?? []), ...Array<number>(count).fill(now)]);
						add(placedAt, news);
						add(counted, counts ? sent : 0);
						expect(inPeriod(placedAt.get(phone))).toBeLessThanOrEqual(calls);
					}
					const { length: requests } = simulator().requests.slice(requestsBefore);
					expect(requests).toBeGreaterThanOrEqual(expected.least);
					expect(requests).toBeLessThanOrEqual(expected.most);
				}
			}),
			{ numRuns: 12 },
		);
	});
});

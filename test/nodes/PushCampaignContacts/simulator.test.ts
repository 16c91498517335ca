import countBy from 'lodash/countBy';
import type { INode } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness } from '../../engine';
import {
	dialects,
	fixtures,
	startSimulator,
	type Dialect,
	type Fault,
	type Simulator,
} from '../../simulator';
import { runPush, manyRows, phone, rowsOf, type NodeParameters, WAITING } from './pushHarness';

const harness = engineHarness();
const { agents, campaigns, dndPhone } = fixtures;

const UNUSABLE = ['', '9.88E+09', 'call me', '12345', '+1 415 555 0100'];
const WRITINGS: ReadonlyArray<(digits: string) => string | number> = [
	(digits) => digits,
	(digits) => Number(digits),
	(digits) => `+91 ${digits.slice(0, 5)} ${digits.slice(5)}`,
	(digits) => `0${digits.slice(0, 5)}-${digits.slice(5)}`,
	(digits) => `${digits}.0`,
	(digits) => `'${digits}\u00a0`,
];

describe.each(Object.entries<Dialect>(dialects))('the service as dialect %s', (_name, dialect) => {
	let simulator: Simulator;
	let attached: Pick<INode, 'credentials'>;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect, keepBodies: false });
		const { baseUrl, token: apiToken } = simulator;
		attached = {
			credentials: { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) },
		};
	});
	afterEach(() => simulator.reset());
	afterAll(async () => await simulator.stop());

	const push = async (
		input: ReturnType<typeof manyRows>,
		parameters: NodeParameters = {},
		over: Partial<INode> = {},
	) => {
		const agentUuid = { __rl: true, mode: 'id', value: agents.full };
		const all = { campaignId: campaigns.active, agentUuid, ...parameters };
		return await runPush(harness, input, all, { ...attached, ...over });
	};
	const pushRequests = () =>
		simulator.requests.filter(({ path }) => path.endsWith('/contacts')).length;
	const inCampaign = (id: number = campaigns.active) =>
		simulator.contactsOf(id).map(({ phone }) => phone);

	test('pushes 25,000 messy rows: each good number once with its longest name, each bad row reported', async () => {
		const { rows, bad, kept } = messyPush(25_000);
		// The service rejects one contact of the second request for a reason of its own.
		const position = 2_345;
		const byService = [...kept.values()].sort((a, b) => a.row - b.row)[10_000 + position];
		if (byService === undefined) throw new Error('The push is too short');
		kept.delete(byService.phone);
		simulator.faults.inject({
			kind: 'status',
			status: 400,
			skip: 1,
			times: 1,
			body: { success: false, error: `contacts[${position}].phone is not in service` },
		});
		// The row before it is accepted when it's sent alone, because the service may count from 1.
		simulator.faults.inject({
			kind: 'status',
			status: 400,
			skip: 1,
			times: 1,
			body: { success: false, error: 'contacts[0].phone is not in service' },
		});
		const { pushed, rejected, error } = await push(rowsOf(...rows));

		expect(error).toBeUndefined();
		const stored = simulator.contactsOf(campaigns.active);
		expect(stored.map(({ phone }) => phone).sort()).toEqual([...kept.keys()].sort());
		expect(stored.every(({ phone, personName }) => kept.get(phone)?.name === personName)).toBe(
			true,
		);
		const rowsWith = (status: string) =>
			rejected.filter(({ json }) => json.rejection_status === status).map(({ json }) => json.row);
		expect(rowsWith('rejected')).toEqual([...bad, byService.row].sort((a, b) => a - b));
		expect(rowsWith('duplicate')).toHaveLength(25_000 - kept.size - bad.length - 1);
		expect(rejected).toHaveLength(rowsWith('rejected').length + rowsWith('duplicate').length);
		expect(pushed.at(-1)?.json.totals).toMatchObject({
			received: 25_000,
			pushed: kept.size,
			rejected: bad.length + 1,
			unknown: 0,
			not_sent: 0,
		});
		expect(pushRequests()).toBe(pushed.length + 2);
	});

	const faults: Array<[Fault, 'unknown' | 'not_sent']> = [
		[{ kind: 'resetBefore' }, 'unknown'],
		[{ kind: 'resetMiddle' }, 'unknown'],
		[{ kind: 'resetAfter' }, 'unknown'],
		[{ kind: 'status', status: 500 }, 'unknown'],
		[{ kind: 'status', status: 503, afterHandling: true }, 'unknown'],
		[{ kind: 'html', afterHandling: true }, 'unknown'],
		[{ kind: 'truncatedJson' }, 'unknown'],
		[{ kind: 'successFalseAt200' }, 'not_sent'],
		[{ kind: 'redirect' }, 'unknown'],
		[{ kind: 'redirect', status: 307 }, 'not_sent'],
	];
	test.each(faults)(
		'%j at the second request: no number twice, every row reported',
		async (fault, fate) => {
			simulator.faults.inject({ ...fault, skip: 1 });
			const { pushed, rejected, error } = await push(
				manyRows(10_010),
				{},
				{
					onError: 'continueRegularOutput',
				},
			);
			expect(error).toBeUndefined();
			expect(pushRequests()).toBe(2);
			expect(new Set(inCampaign()).size).toBe(inCampaign().length);
			expect(pushed).toHaveLength(1);
			expect(countBy(rejected, ({ json }) => json.rejection_status)).toEqual({ [fate]: 10 });
		},
	);

	test('too many requests: waits and continues', async () => {
		simulator.faults.inject({ kind: 'tooManyRequests', retryAfterSeconds: 0, times: 2 });
		const { pushed, rejected } = await push(manyRows(3));
		expect(pushRequests()).toBe(3);
		expect(inCampaign()).toHaveLength(3);
		expect([pushed.length, rejected.length]).toEqual([1, 0]);
	});

	test.each<[string, NodeParameters, RegExp]>([
		[
			'an archived campaign',
			{ campaignId: campaigns.archived },
			/archived/.test(dialect.campaigns.archivedText) ? /campaign is archived/ : /a conflict/,
		],
		['an unknown campaign', { campaignId: 999 }, /doesn't know this campaign/],
		['an unknown agent', { agentUuid: agents.foreign }, /no such agent/],
		['no number', { agentUuid: agents.noNumber, enqueue: true }, /has no outbound number/],
	])('%s', async (_n, parameters, message) => {
		const { error } = await push(manyRows(2), parameters);
		expect(error?.message).toMatch(message);
		expect(pushRequests()).toBe(1);
		expect(inCampaign()).toEqual([]);
	});

	test('a paused campaign accepts the contacts with a warning', async () => {
		const { pushed, hints } = await push(manyRows(2), {
			campaignId: campaigns.paused,
			enqueue: true,
		});
		expect(pushed[0]?.json).toMatchObject({ contacts_received: 2, enqueued: true });
		expect(inCampaign(campaigns.paused)).toHaveLength(2);
		expect(hints).toEqual([
			expect.stringMatching(/^2 rows: 2 pushed\. Pushed rows were released/),
			expect.stringMatching(/^Warning from the service: /),
		]);
	});

	test('Rejected lists a number that is queued already', async () => {
		const release = { enqueue: true };
		await push(rowsOf({ phone: '9000000001' }), release);
		const { pushed, rejected } = await push(
			rowsOf({ phone: '90000 00001', city: 'Pune' }, { phone: '+919000000002' }),
			release,
		);
		expect(pushed[0]?.json.totals).toMatchObject({ received: 2, pushed: 1, skipped_duplicate: 1 });
		expect(rejected).toMatchObject([
			{ json: { city: 'Pune', rejection_status: 'skipped_duplicate' }, pairedItem: { item: 0 } },
		]);
	});

	test.each([
		['in the middle', 10],
		['first', 0],
		['last', 24],
	])('of 25 rows, rejects the one that the service rejects: %s', async (_name, bad) => {
		const input = manyRows(25);
		const row = input[bad];
		if (row === undefined) throw new Error('The push is too short');
		const landline = '+911234567890';
		row.json.phone = landline;
		const isRejected = dialect.campaigns.plus91NeedsMobile;
		const { pushed, rejected, error } = await push(input);
		expect(error).toBeUndefined();
		expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual(isRejected ? [{ item: bad }] : []);
		const mobiles = [...input.keys()].filter((index) => index !== bad);
		expect(inCampaign().sort()).toEqual([
			...(isRejected ? [] : [landline]),
			...mobiles.map((index) => `+91${phone(index)}`),
		]);
		const totals = isRejected ? { pushed: 24, rejected: 1 } : { pushed: 25, rejected: 0 };
		expect(pushed.at(-1)?.json.totals).toMatchObject({ received: 25, ...totals });
	});

	test('Rejected lists a number on the do-not-disturb list', async () => {
		const { pushed, rejected, hints } = await push(
			rowsOf({ phone: dndPhone }, { phone: '9000000001' }),
		);
		expect(pushed[0]?.json.dnd_skipped).toHaveLength(1);
		expect(inCampaign()).toEqual(['+919000000001']);
		expect(pushed[0]?.json.totals).toMatchObject({ received: 2, pushed: 1, do_not_disturb: 1 });
		expect(rejected).toMatchObject([
			{ json: { phone: dndPhone, rejection_status: 'do_not_disturb' }, pairedItem: { item: 0 } },
		]);
		expect(hints).toEqual([
			`2 rows: 1 pushed, 1 on the do-not-disturb list. ${WAITING} The 'Rejected' output shows the reason for each row.`,
		]);
	});
});

type Kept = { row: number; phone: string; name: string };

/** 1% unusable rows and 3% duplicates, some with a longer name; `kept` is what should be sent. */
function messyPush(count: number) {
	const kept = new Map<string, Kept>();
	const bad: number[] = [];
	const rows = Array.from({ length: count }, (_, row): JsonObject => {
		if (row % 100 === 50) {
			bad.push(row);
			return { row, Mobile: UNUSABLE[bad.length % UNUSABLE.length] ?? '', Name: `Bad ${row}` };
		}
		const isDuplicate = row > 200 && row % 33 === 1;
		const digits = String(9_000_000_000 + (isDuplicate ? row - 100 : row));
		const name = isDuplicate && row % 2 === 0 ? `Person with a long name ${row}` : `P ${row}`;
		const phone = `+91${digits}`;
		if (name.length > (kept.get(phone)?.name.length ?? 0)) kept.set(phone, { row, phone, name });
		return { row, Mobile: WRITINGS[row % WRITINGS.length]?.(digits) ?? digits, Name: name };
	});
	return { rows, bad, kept };
}

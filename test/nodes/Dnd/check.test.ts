import { engineTool, output, runNode, service } from '../../engine';
import { AGENT, WITH_PROFILE, dndHarness, listOf, PATH } from './dndHarness';

const harness = dndHarness('check', { phone: '={{ $json.phone }}' });
const { records, errorOf, run } = harness;
const credential = WITH_PROFILE;
const whole = (agent = 'agent_a1') =>
	service().get(PATH).query({ list_agent: agent, list_size: 100 });
const ending = (list_phone: string) =>
	service().get(PATH).query({ list_agent: 'agent_a1', list_phone });
const LISTED = {
	on_dnd: true,
	dnd_phone: '+919812345678',
	dnd_reason: 'asked',
	dnd_created_at: '2026-10-01T10:00:00+05:30',
};
const FREE = { on_dnd: false, dnd_phone: null, dnd_reason: null, dnd_created_at: null };
const ROWS = [
	{ phone: '98123 45678', name: 'Asha' },
	{ phone: 9812345679, name: 'Ravi', on_dnd: 'from an earlier run' },
	{ phone: '+1 202 555 0143', name: 'Kim' },
];

const checkNode = async () =>
	await harness.nodeWith(WITH_PROFILE, 'dnd', {
		parameters: { operation: 'check', agentUuid: AGENT, phone: '={{ $json.phone }}' },
	});

test('returns each row with on_dnd, and with its files', async () => {
	whole().reply(200, listOf('+919812345678'));
	const binary = { data: { data: 'QQ==', mimeType: 'text/plain' } };
	const rows = ROWS.map((json) => ({ json, binary }));
	const node = await checkNode();
	expect(output(await runNode(node, rows), node.name)).toEqual([
		{ json: { ...ROWS[0], ...LISTED }, binary, pairedItem: { item: 0 } },
		{ json: { ...ROWS[1], ...FREE }, binary, pairedItem: { item: 1 } },
		{ json: { ...ROWS[2], ...FREE }, binary, pairedItem: { item: 2 } },
	]);
});

test('empties what an earlier check wrote into a sheet, which would keep it for null', async () => {
	whole().reply(200, listOf());
	const overrides = { onError: 'continueRegularOutput' } as const;
	const earlier = { ...LISTED, error: 'No', message: 'Correct it', dnd_phone: 919812345678 };
	const rows = [ROWS[0], { phone: 'later' }].map((row) => ({ ...row, ...earlier, row_number: 2 }));
	const found = await records({}, { items: rows, credential, overrides });
	const emptied = { dnd_phone: '', dnd_reason: '', dnd_created_at: '' };
	expect(found).toMatchObject([
		{ on_dnd: false, ...emptied, error: '', message: '' },
		{ on_dnd: true, ...emptied, error: expect.stringContaining('later') },
	]);
});

test('with Retry On Fail, n8n runs it again for an empty error of the first row, with the same result', async () => {
	ending('78').times(2).reply(200, listOf('+919812345678'));
	const overrides = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
	const items = [{ phone: '9812345678', error: '' }];
	const found = await records({}, { items, credential, overrides });
	expect(found).toEqual([{ ...items[0], ...LISTED }]);
});

test('as a tool, returns the number and its entry, not the row of the agent', async () => {
	ending('78').reply(200, listOf('+919812345678'));
	const [row = { phone: '' }] = ROWS;
	const { result } = await engineTool(await checkNode(), { row })();
	expect(result).toEqual({ phone: row.phone, ...LISTED });
});

test('reads the list of each agent once', async () => {
	whole('agent_a1').reply(200, listOf('+919812345678'));
	whole('agent_b2').reply(200, listOf());
	const items = ['agent_a1', 'agent_b2', 'agent_a1'].map((agent) => ({
		agent,
		phone: '9812345678',
	}));
	const agentUuid = { __rl: true, mode: 'id', value: '={{ $json.agent }}' };
	expect(await records({ agentUuid }, { items, credential })).toMatchObject([
		{ on_dnd: true },
		{ on_dnd: false },
		{ on_dnd: true },
	]);
});

describe('a number that cannot be read', () => {
	const items = [{ phone: '9812345679' }, { phone: 'n/a' }, { phone: '' }, ROWS[0] ?? {}];

	test('is reported with its item, and nothing is read', async () => {
		const { message, description } = await errorOf({}, { items, credential });
		expect(message).toBe("'Phone' \"n/a\" isn't a phone number [row 2]");
		expect(description).toContain("[row 3] 'Phone' is empty");
	});

	test('is treated neither as listed nor as not listed', async () => {
		whole().reply(200, listOf('+919812345678'));
		const overrides = { onError: 'continueErrorOutput' } as const;
		const earlier = items.map((item) => ({ ...item, on_dnd: 'earlier' }));
		const setting = { items: earlier, credential, overrides, sinks: ['Good', 'Bad'] };
		const result = await run({}, setting);
		expect(output(result, 'Good').map(({ json }) => json.on_dnd)).toEqual([false, true]);
		expect(output(result, 'Bad')).toMatchObject([
			{ json: { error: "'Phone' \"n/a\" isn't a phone number [row 2]", on_dnd: 'earlier' } },
			{ json: { error: "'Phone' is empty [row 3]", on_dnd: 'earlier' } },
		]);
	});

	test('is reported together with all others', async () => {
		whole().reply(200, listOf('+919812345678', 'n/a'));
		const numbers = [{ phone: '2025550143' }, { phone: '9812345678' }, { phone: '02079460958' }];
		const { message, description } = await errorOf({}, { items: numbers, credential });
		expect(message).toContain('"2025550143" may be listed, because the entry "n/a" on the list');
		expect(description).toContain('[row 3] "02079460958" may be listed');
	});
});

test('an unreadable list stops every row of its agent', async () => {
	whole().reply(422, { success: false, errors: ['list_agent is unknown'] });
	const overrides = { onError: 'continueErrorOutput' } as const;
	const result = await run({}, { items: ROWS, credential, overrides, sinks: ['Good', 'Bad'] });
	expect(output(result, 'Good')).toEqual([]);
	expect(output(result, 'Bad')).toHaveLength(3);
});

test.each([
	['continueRegularOutput', 0],
	['continueErrorOutput', 1],
] as const)('a row that cannot be checked keeps its files, with %s', async (onError, index) => {
	const binary = { data: { data: 'QQ==', mimeType: 'text/plain' } };
	const node = { ...(await checkNode()), onError };
	const ran = await runNode(node, [{ json: { phone: 'later' }, binary }]);
	expect(output(ran, node.name, index)).toMatchObject([{ json: { phone: 'later' }, binary }]);
});

const UNKNOWN = { on_dnd: true, dnd_phone: '', dnd_reason: '', dnd_created_at: '' };

test('with On Error set to continue, a row that cannot be compared keeps its columns, but not those of an earlier check', async () => {
	whole().reply(200, listOf('+919812345678'));
	const overrides = { onError: 'continueRegularOutput' } as const;
	const earlier = { ...ROWS[0], error: 'of an earlier node' };
	const items = [earlier, { phone: 'later', name: 'Zoe', row_number: 3, on_dnd: false }];
	const result = await run({}, { items, credential, overrides });
	expect(output(result, 'Node').map(({ json }) => json)).toEqual([
		{ ...earlier, ...LISTED },
		{
			...{ ...items[1], ...UNKNOWN },
			error: expect.any(String),
			message: expect.any(String),
			details: expect.any(Object),
		},
	]);
});

test('Execute Once stops a list whose field depends on the item', async () => {
	const overrides = { executeOnce: true };
	const agentUuid = { ...AGENT, value: '={{ $json.agent }}' };
	const setting = { items: ROWS, credential, overrides };
	const { message } = await errorOf({ operation: 'getMany', agentUuid }, setting);
	expect(message).toContain("'Execute Once' is on");
});

test('a whole run that stops before it begins has on_dnd, too, with On Error set to continue', async () => {
	const overrides = { onError: 'continueRegularOutput', executeOnce: true } as const;
	expect(await records({}, { items: ROWS, credential, overrides })).toMatchObject([
		{ on_dnd: true, error: expect.stringContaining("'Execute Once' is on") },
	]);
});

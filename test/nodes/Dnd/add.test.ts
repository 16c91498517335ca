import nock from 'nock';
import { output, service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf, run } = dndHarness('add', { phone: '+91 98123-45678' });
const credential = DETAILS;
const BODY = { add_agent: 'agent_a1', add_phone: '+919812345678' };
const perItem = { phone: '={{ $json.phone }}' };
const people = (count: number) =>
	Array.from({ length: count }, (_, i) => ({ phone: `981234567${i}` }));

describe('what is sent', () => {
	test('two query values with one name are both sent', async () => {
		service()
			.post(PATH)
			.query({ q: ['agent_a1', '+919812345678'] })
			.reply(200, { success: true, message: 'Added' });
		const same = {
			...credential,
			dndAddPlacement: 'query',
			dndAddAgentName: 'q',
			dndAddPhoneName: 'q',
		};
		expect(await records({}, { credential: same })).toHaveLength(1);
	});

	test('additional body fields are merged into nested objects', async () => {
		service()
			.post(PATH, { entry: { agent: 'agent_a1', phone: '+919812345678', source: 'crm' } })
			.reply(200, { success: true, message: 'Added' });
		const nested = {
			...credential,
			dndAddAgentName: 'entry.agent',
			dndAddPhoneName: 'entry.phone',
		};
		const developerSettings = { additionalBodyFields: { entry: { source: 'crm', phone: 'x' } } };
		expect(await records({ developerSettings }, { credential: nested })).toHaveLength(1);
	});

	test('additional fields do not replace what the node sends', async () => {
		service()
			.post(PATH, { ...BODY, source: 'crm' })
			.query({ notify: 'no' })
			.reply(200, { success: true });
		const developerSettings = {
			additionalBodyFields: { source: 'crm', add_phone: 'x' },
			additionalQueryParameters: '{ "notify": "no" }',
		};
		expect(await records({ developerSettings }, { credential })).toEqual([{}]);
	});
});

describe('before anything is sent', () => {
	test.each([
		['dndAddPlacement', 'Add Number: Send Values In'],
		['dndAddAgentName', 'Add Number: Agent Field Name'],
		['dndAddPhoneName', 'Add Number: Phone Field Name'],
		['dndAddReasonName', 'Add Number: Reason Field Name'],
	])('%s is missing', async (name, label) => {
		const lacking = { ...credential, [name]: '' };
		expect(await errorOf({ reason: 'asked' }, { credential: lacking })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining(
				`turn on 'Set Up Do-Not-Disturb Lists' and fill in '${label}'.`,
			),
		});
	});

	test('reports everything that is missing together', async () => {
		expect(await errorOf({ reason: 'asked' }, { credential: {} })).toMatchObject({
			description: expect.stringContaining(
				"fill in 'Add Number: Send Values In', 'Add Number: Agent Field Name', 'Add Number: Phone Field Name', and 'Add Number: Reason Field Name'.",
			),
		});
	});

	test('needs no general placement if each value has its own', async () => {
		service().post(PATH).query(BODY).reply(200, { success: true, message: 'Added' });
		const each = {
			...credential,
			dndAddPlacement: '',
			dndAddAgentPlacement: 'query',
			dndAddPhonePlacement: 'query',
		};
		expect(await records({}, { credential: each })).toHaveLength(1);
	});

	test('two values with the same name in the body', async () => {
		const same = { ...credential, dndAddAgentName: 'entry', dndAddPhoneName: 'entry.phone' };
		expect(await errorOf({}, { credential: same })).toMatchObject({
			message:
				'Two values of this request have the same field name in the credential (got "entry.phone")',
		});
	});

	test('needs the name of the reason only if there is one', async () => {
		service().post(PATH, BODY).reply(200, { success: true });
		const lacking = { ...credential, dndAddReasonName: '' };
		expect(await records({}, { credential: lacking })).toHaveLength(1);
	});

	test.each([
		[{ phone: '={{ "" }}' }, "'Phone' is empty"],
		[{ phone: 'nobody' }, "'Phone' \"nobody\" isn't a phone number"],
		[
			{ agentUuid: { __rl: true, mode: 'id', value: '={{ "sales" }}' } },
			`'Agent' must be an agent ID (got "sales")`,
		],
	])('%p', async (parameters, message) => {
		expect(await errorOf(parameters, { credential })).toMatchObject({ message });
	});

	test('one bad item of several stops all of them', async () => {
		const items = [...people(2), { phone: 'nobody' }];
		const stopped = await errorOf(perItem, { items, credential });
		expect(stopped.message).toContain('[item 2]');
		expect(stopped.description).toContain('Nothing was sent');
	});
});

describe('several items', () => {
	test('are sent one after another, and a stopped run reports what was added', async () => {
		service().post(PATH).times(2).reply(200, { success: true });
		service()
			.post(PATH)
			.reply(422, { success: false, errors: ['already listed'] });
		const stopped = await errorOf(perItem, { items: people(4), credential });
		expect(stopped.message).toBe('The service rejected the request: "already listed" [item 2]');
		expect(stopped.description).toContain('2 numbers were already added in this run (items 0–1)');
	});

	const tried = (maxTries: number) => ({ retryOnFail: true, maxTries, waitBetweenTries: 1 });

	test('a request with an unknown outcome is not sent again by Retry On Fail', async () => {
		let sent = 0;
		service()
			.post(PATH)
			.times(3)
			.reply(() => {
				sent += 1;
				return [502, ''];
			});
		expect(await errorOf({}, { credential, overrides: tried(3) })).toMatchObject({
			message: expect.stringContaining('the outcome is unknown'),
			description: expect.stringContaining('use the Check operation to see whether'),
		});
		expect(sent).toBe(1);
		nock.cleanAll();
	});

	test('Retry On Fail does not add the first number again after the second was rejected', async () => {
		const seen: unknown[] = [];
		service()
			.post(PATH)
			.times(3)
			.reply((_uri, body) => {
				seen.push(body);
				return seen.length === 2
					? [422, { success: false, errors: ['not now'] }]
					: [200, { success: true, data: { n: seen.length } }];
			});
		const overrides = tried(2);
		const found = output(await run(perItem, { items: people(2), credential, overrides }), 'Node');
		expect(found.map(({ json }) => json)).toEqual([{ n: 1 }, { n: 3 }]);
		expect(seen).toMatchObject([
			{ add_phone: '9812345670' },
			{ add_phone: '9812345671' },
			{ add_phone: '9812345671' },
		]);
	});
});

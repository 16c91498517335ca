import nock from 'nock';
import { output, service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, told, run } = dndHarness('add', { phone: '+91 98123-45678' });
const credential = DETAILS;
const BODY = { add_agent: 'agent_a1', add_phone: '+919812345678' };
const perItem = { phone: '={{ $json.phone }}' };
const people = (count: number) =>
	Array.from({ length: count }, (_, i) => ({ phone: `981234567${i}` }));

describe('what is sent', () => {
	test('in the body, with a reason', async () => {
		service()
			.post(PATH, { ...BODY, add_reason: 'asked' })
			.reply(200, { success: true, data: { id: 7, anything: true } });
		const found = await records({ reason: 'asked' }, { credential });
		expect(found).toEqual([{ id: 7, anything: true }]);
	});

	test('in the address, without a body', async () => {
		service()
			.post(PATH, (body) => body === '')
			.query(BODY)
			.reply(200, { success: true, message: 'Added' });
		const elsewhere = { ...credential, dndAddPlacement: 'query' };
		expect(await records({}, { credential: elsewhere })).toEqual([{ message: 'Added' }]);
	});

	test('each value where the credential has it, nested where its name has dots', async () => {
		service()
			.post(PATH, { entry: { digits: '+919812345678', notes: ['asked'] } })
			.query({ 'for.agent': 'agent_a1' })
			.reply(200, { success: true, message: 'Added' });
		const nested = {
			...credential,
			dndAddAgentName: 'for.agent',
			dndAddAgentPlacement: 'query',
			dndAddPhoneName: 'entry.digits',
			dndAddReasonName: 'entry.notes.0',
		};
		expect(await records({ reason: 'asked' }, { credential: nested })).toHaveLength(1);
	});

	test('two values of one name in the address are both sent', async () => {
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

	test('additional body fields go into what is nested', async () => {
		service()
			.post(PATH, { entry: { agent: 'agent_a1', phone: '+919812345678', source: 'crm' } })
			.reply(200, { success: true, message: 'Added' });
		const nested = {
			...credential,
			dndAddAgentName: 'entry.agent',
			dndAddPhoneName: 'entry.phone',
		};
		const options = { additionalBodyFields: { entry: { source: 'crm', phone: 'x' } } };
		expect(await records({ options }, { credential: nested })).toHaveLength(1);
	});

	test('additions do not replace what the node sends itself', async () => {
		service()
			.post(PATH, { ...BODY, source: 'crm' })
			.query({ notify: 'no' })
			.reply(200, { success: true });
		const options = {
			additionalBodyFields: { source: 'crm', add_phone: 'x' },
			additionalQueryParameters: '{ "notify": "no" }',
		};
		expect(await records({ options }, { credential })).toEqual([{}]);
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
		expect(await told({ reason: 'asked' }, { credential: lacking })).toMatchObject({
			message: `The credential has no value for '${label}'`,
			description: expect.stringContaining('Set Up Do-Not-Disturb Lists'),
		});
	});

	test('all that is missing is named at once', async () => {
		expect(await told({ reason: 'asked' }, { credential: {} })).toMatchObject({
			message:
				"The credential has no value for 'Add Number: Send Values In', 'Add Number: Agent Field Name', 'Add Number: Phone Field Name', and 'Add Number: Reason Field Name'",
		});
	});

	test('where each value has its place, no general one is needed', async () => {
		service().post(PATH).query(BODY).reply(200, { success: true, message: 'Added' });
		const each = {
			...credential,
			dndAddPlacement: '',
			dndAddAgentPlacement: 'query',
			dndAddPhonePlacement: 'query',
		};
		expect(await records({}, { credential: each })).toHaveLength(1);
	});

	test('two values that would take one place in the body', async () => {
		const same = { ...credential, dndAddAgentName: 'entry', dndAddPhoneName: 'entry.phone' };
		expect(await told({}, { credential: same })).toMatchObject({
			message:
				'Two values of this request have the same field name in the credential (got "entry.phone")',
		});
	});

	test('a reason is only needed by name where one is given', async () => {
		service().post(PATH, BODY).reply(200, { success: true });
		const lacking = { ...credential, dndAddReasonName: '' };
		expect(await records({}, { credential: lacking })).toHaveLength(1);
	});

	test.each([
		[{ phone: '={{ "" }}' }, 'Phone is empty'],
		[{ phone: 'nobody' }, 'Phone "nobody" is not a phone number'],
		[
			{ agentUuid: { __rl: true, mode: 'id', value: '={{ "sales" }}' } },
			`'Agent' must be an agent ID (got "sales")`,
		],
	])('%p', async (parameters, message) => {
		expect(await told(parameters, { credential })).toMatchObject({ message });
	});

	test('one bad item of several stops all of them', async () => {
		const items = [...people(2), { phone: 'nobody' }];
		const stopped = await told(perItem, { items, credential });
		expect(stopped.message).toContain('[item 2]');
		expect(stopped.description).toContain('Nothing was sent');
	});
});

describe('several items', () => {
	test('one after another; a run that stops says what was added', async () => {
		service().post(PATH).times(2).reply(200, { success: true });
		service()
			.post(PATH)
			.reply(422, { success: false, errors: ['already listed'] });
		const stopped = await told(perItem, { items: people(4), credential });
		expect(stopped.message).toBe('The service rejected the request [item 2]');
		expect(stopped.description).toContain('2 numbers were already added in this run (items 0–1)');
	});

	const tried = (maxTries: number) => ({ retryOnFail: true, maxTries, waitBetweenTries: 1 });

	test('a request whose fate is unknown is not sent again, though the node is tried three times', async () => {
		let sent = 0;
		service()
			.post(PATH)
			.times(3)
			.reply(() => {
				sent += 1;
				return [502, ''];
			});
		expect(await told({}, { credential, over: tried(3) })).toMatchObject({
			message: expect.stringContaining('the outcome is unknown'),
		});
		expect(sent).toBe(1);
		nock.cleanAll();
	});

	test('a node that is tried again, as its second number was rejected, adds the first no second time', async () => {
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
		const over = tried(2);
		const found = output(await run(perItem, { items: people(2), credential, over }), 'Node');
		expect(found.map(({ json }) => json)).toEqual([{ n: 1 }, { n: 3 }]);
		expect(seen).toMatchObject([
			{ add_phone: '9812345670' },
			{ add_phone: '9812345671' },
			{ add_phone: '9812345671' },
		]);
	});
});

test('an agent that the service does not know', async () => {
	service().post(PATH).reply(200, { success: false, error: 'agent_not_found' });
	expect(await told({}, { credential })).toMatchObject({
		message: expect.stringContaining('The service found no such agent'),
	});
});

import { output, service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf, run } = dndHarness('remove', { phone: '98123 45678' });
const credential = DETAILS;
const NOT_LISTED = { success: false, error: 'Phone number not found on DND list' };
const DONE = { success: true, message: 'Removed' };
const RESULT = { deleted: true, agent_uuid: 'agent_a1', phone: '9812345678' };

describe('what is sent', () => {
	test('the phone in the query, the agent in the body', async () => {
		service()
			.delete(PATH, { remove_agent: 'agent_a1' })
			.query({ phone: '9812345678' })
			.reply(200, DONE);
		expect(await records({}, { credential })).toEqual([
			{ ...RESULT, was_listed: true, message: 'Removed' },
		]);
	});

	test('the phone in the body, the agent in the query', async () => {
		service()
			.delete(PATH, { phone: '9812345678', why: 'came back' })
			.query({ remove_agent: 'agent_a1', force: 'true' })
			.reply(200, DONE);
		const elsewhere = {
			...credential,
			dndRemovePhonePlacement: 'body',
			dndRemoveAgentPlacement: 'query',
		};
		const developerSettings = {
			additionalBodyFields: { why: 'came back' },
			additionalQueryParameters: { force: true },
		};
		expect(await records({ developerSettings }, { credential: elsewhere })).toHaveLength(1);
	});

	test('both in the query, without a body', async () => {
		service()
			.delete(PATH, (body) => body === '')
			.query({ remove_agent: 'agent_a1', phone: '9812345678' })
			.reply(200, DONE);
		const elsewhere = { ...credential, dndRemoveAgentPlacement: 'query' };
		expect(await records({}, { credential: elsewhere })).toHaveLength(1);
	});

	test('nested, as set in the credential', async () => {
		service()
			.delete(PATH, { dnd_number: { phone: '9812345678', agent: 'agent_a1' } })
			.reply(200, DONE);
		const nested = {
			...credential,
			dndRemovePhonePlacement: 'body',
			dndRemovePhoneName: 'dnd_number.phone',
			dndRemoveAgentName: 'dnd_number.agent',
		};
		expect(await records({}, { credential: nested })).toHaveLength(1);
	});

	test.each([
		['dndRemovePhonePlacement', 'Remove Number: Send Phone In'],
		['dndRemoveAgentPlacement', 'Remove Number: Send Agent In'],
		['dndRemoveAgentName', 'Remove Number: Agent Field Name'],
	])('nothing if %s is missing', async (name, label) => {
		expect(await errorOf({}, { credential: { ...credential, [name]: '' } })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining(` fill in '${label}'.`),
		});
	});
});

describe('a number that is not listed', () => {
	test('is reported', async () => {
		service().delete(PATH).query(true).reply(404, NOT_LISTED);
		expect(await errorOf({}, { credential })).toMatchObject({
			message: "The number isn't on the do-not-disturb list of this agent",
			description: expect.stringContaining('Ignore If Not Listed'),
		});
	});

	test('counts as removed with the switch on', async () => {
		service().delete(PATH).query(true).reply(404, NOT_LISTED);
		expect(await records({ treatNotListedAsDone: true }, { credential })).toEqual([
			{ ...RESULT, was_listed: false, message: 'Phone number not found on DND list' },
		]);
	});

	test('the option ignores no other error', async () => {
		service().delete(PATH).query(true).reply(422, { success: false, error: 'agent_not_found' });
		expect(await errorOf({ treatNotListedAsDone: true }, { credential })).toMatchObject({
			message: expect.stringContaining('no such agent'),
		});
	});
});

test('a service that misses the phone says so', async () => {
	service()
		.delete(PATH)
		.query(true)
		.reply(400, { success: false, error: 'param is missing: phone' });
	expect(await errorOf({}, { credential })).toMatchObject({
		message: 'The service found no usable phone number in the request',
		description: expect.stringContaining("'Remove Number: Send Phone In'"),
	});
});

test('each item separately, under Continue On Fail', async () => {
	service().delete(PATH).query({ phone: '9812345670' }).reply(404, NOT_LISTED);
	service().delete(PATH).query({ phone: '9812345671' }).reply(200, DONE);
	const items = ['9812345670', '9812345671', ''].map((phone) => ({ phone }));
	const overrides = { onError: 'continueErrorOutput' } as const;
	const parameters = { phone: '={{ $json.phone }}' };
	const result = await run(parameters, { items, credential, overrides, sinks: ['Good', 'Bad'] });
	expect(output(result, 'Good')).toMatchObject([{ json: { phone: '9812345671', deleted: true } }]);
	expect(output(result, 'Bad').map(({ json }) => json.error)).toEqual([
		"The number isn't on the do-not-disturb list of this agent [item 0]",
		"'Phone' is empty [item 2]",
	]);
});

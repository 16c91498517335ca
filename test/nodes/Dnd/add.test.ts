import { service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf } = dndHarness('add', { phone: '+91 98123-45678' });
const credential = DETAILS;
const BODY = { add_agent: 'agent_a1', add_phone: '+919812345678' };

describe('what is sent', () => {
	test('additional fields are merged into nested objects, and do not replace what the node sends', async () => {
		service()
			.post(PATH, { entry: { agent: 'agent_a1', phone: '+919812345678', source: 'crm' } })
			.query({ notify: 'no' })
			.reply(200, { success: true });
		const nested = {
			...credential,
			dndAddAgentName: 'entry.agent',
			dndAddPhoneName: 'entry.phone',
		};
		const developerSettings = {
			additionalBodyFields: { entry: { source: 'crm', phone: 'x' } },
			additionalQueryParameters: '{ "notify": "no" }',
		};
		expect(await records({ developerSettings }, { credential: nested })).toEqual([{}]);
	});

	test.each([
		[
			'each value at its own placement, without a general one',
			{ dndAddPlacement: '', dndAddAgentPlacement: 'query', dndAddPhonePlacement: 'body' },
			{ add_phone: BODY.add_phone },
			{ add_agent: BODY.add_agent },
		],
		['no reason, so its name may be missing', { dndAddReasonName: '' }, BODY, {}],
	])('%s', async (_what, details, body, query) => {
		service().post(PATH, body).query(query).reply(200, { success: true, message: 'Added' });
		expect(await records({}, { credential: { ...credential, ...details } })).toHaveLength(1);
	});
});

describe('before anything is sent', () => {
	test('reports everything that is missing in the credential together', async () => {
		expect(await errorOf({ reason: 'asked' }, { credential: {} })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining(
				"turn on 'Set Up Do-Not-Disturb Lists' and fill in 'Add Number: Send Values In', 'Add Number: Agent Field Name', 'Add Number: Phone Field Name', and 'Add Number: Reason Field Name'.",
			),
		});
	});
});

test('items are sent one after another, and a stopped run reports what was added', async () => {
	service().post(PATH).times(2).reply(200, { success: true });
	service()
		.post(PATH)
		.reply(422, { success: false, errors: ['already listed'] });
	const items = Array.from({ length: 4 }, (_, i) => ({ phone: `981234567${i}` }));
	const stopped = await errorOf({ phone: '={{ $json.phone }}' }, { items, credential });
	expect(stopped.message).toBe('The service rejected the request [row 3]');
	expect(stopped.description).toContain('Completed in this run: rows 1–2.');
});

test('for an unknown outcome, says how to see whether the number was added', async () => {
	service().post(PATH).reply(502, '');
	expect(await errorOf({}, { credential })).toMatchObject({
		message: expect.stringContaining('the outcome is unknown (+919812345678)'),
		description: expect.stringContaining(
			'use the Check operation to see whether +919812345678 is on the list',
		),
	});
});

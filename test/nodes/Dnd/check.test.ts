import { service } from '../../engine';
import { DETAILS, dndHarness, PATH } from './dndHarness';

const { records, errorOf } = dndHarness('check', { phone: '={{ $json.phone }}' });
const credential = DETAILS;
const entry = (phone: string) => ({
	id: Number(phone),
	agent_uuid: 'agent_a1',
	phone,
	reason: 'asked',
});
const found = (...phones: string[]) => ({
	success: true,
	data: phones.map(entry),
	meta: { current_page: 1, total_pages: 1, total_count: phones.length, per_page: 25 },
});
const list = (list_phone: string, more: object = {}) =>
	service()
		.get(PATH)
		.query({ list_agent: 'agent_a1', list_phone, ...more });

test.each([
	['98123 45678', '9812345678'],
	['+91 9812345678', '9812345678'],
	['+1 (202) 555-0143', '12025550143'],
])('%s: the service filters, and the node compares the digits', async (phone, digits) => {
	const kept = digits.startsWith('1') ? `+${digits}` : `+91${digits}`;
	list(digits.slice(-7)).reply(200, found(`${kept}0`, kept));
	const [checked] = await records({}, { items: [{ phone }], credential });
	expect(checked).toEqual({
		phone: phone.replace(/[^\d+]/g, ''),
		agent_uuid: 'agent_a1',
		listed: true,
		entry: entry(kept),
		similar: [entry(`${kept}0`)],
	});
});

test('a number that only ends alike is neither listed nor similar', async () => {
	list('2345678').reply(200, found('+919912345678'));
	expect(await records({}, { items: [{ phone: '9812345678' }], credential })).toMatchObject([
		{ listed: false, entry: null, similar: [] },
	]);
});

test('a number that is part of another is not listed', async () => {
	list('8123456').reply(200, found('+919812345678'));
	expect(await records({}, { items: [{ phone: '98123456' }], credential })).toMatchObject([
		{ listed: false, entry: null, similar: [{ phone: '+919812345678' }] },
	]);
});

describe('a number that may equal an entry', () => {
	test.each([
		// Without the code, as it may have been added as +44020…
		['00 44 20 7946 0958', '+442079460958'],
		['+44 (0)20 7946 0958', '+442079460958'],
		['+44 20 7946 0958', '+4402079460958'],
		['+4402079460958', '+442079460958'],
	])('%s is found in another format', async (phone, kept) => {
		list('9460958').reply(200, found(kept));
		expect(await records({}, { items: [{ phone }], credential })).toMatchObject([
			{ listed: true, entry: entry(kept) },
		]);
	});

	test.each([
		['020 7946 0958', '9460958', '+442079460958'],
		['011 44 20 7946 0958', '9460958', '+442079460958'],
		['202 555 0143', '5550143', '+12025550143'],
		['+1 202 555 0143', '5550143', '202-555-0143'],
	])('%s is never treated as not listed', async (phone, digits, kept) => {
		list(digits).reply(200, found(kept));
		const { message } = await errorOf({}, { items: [{ phone }], credential });
		expect(message).toContain(`and "${kept}" on the list may be the same number`);
	});

	test('fails if an entry has no number', async () => {
		list('2345678').reply(200, { ...found(), data: [{ id: 1 }] });
		const { message } = await errorOf({}, { items: [{ phone: '9812345678' }], credential });
		expect(message).toContain('An entry of the do-not-disturb list has no phone number');
	});
});

test.each([
	['instead of this agent', ['+919912345678'], ['agent_b2']],
	['beside this agent', ['+919812345678', '+919912345678'], ['agent_a1', 'agent_b2']],
])('a list with numbers of another agent %s is not used', async (_how, phones, agents) => {
	const body = found(...phones);
	const data = body.data.map((one, index) => ({ ...one, agent_uuid: agents[index] }));
	list('2345678').reply(200, { ...body, data });
	const items = [{ phone: '9812345678' }];
	expect(await errorOf({}, { items, credential })).toMatchObject({
		message: 'The service returned numbers of another agent than the requested one',
		description: expect.stringContaining("'Get List: Agent Parameter Name'"),
	});
});

describe('more than one page', () => {
	const items = [{ phone: '9812345678' }];
	const first = { ...found('+9198123456780'), meta: { current_page: 1, total_pages: 2 } };
	const last = { ...found('+919812345678'), meta: { current_page: 2, total_pages: 2 } };

	test('is read twice', async () => {
		const names = { ...credential, dndListPerPageName: '' };
		for (let reading = 1; reading <= 2; reading++) {
			list('2345678').reply(200, first);
			list('2345678', { list_page: 2 }).reply(200, last);
		}
		expect(await records({}, { items, credential: names })).toMatchObject([{ listed: true }]);
	});

	test('is read to the last one if the first one is empty', async () => {
		const names = { ...credential, dndListPerPageName: '' };
		for (let reading = 1; reading <= 2; reading++) {
			list('2345678').reply(200, { ...first, data: [] });
			list('2345678', { list_page: 2 }).reply(200, last);
		}
		expect(await records({}, { items, credential: names })).toMatchObject([{ listed: true }]);
	});

	test('needs the name of its parameter', async () => {
		list('2345678').reply(200, first);
		const lacking = { ...credential, dndListPageName: '' };
		expect(await errorOf({}, { items, credential: lacking })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining("fill in 'Get List: Page Parameter Name'."),
		});
	});
});

test('sends nothing if the name of the filter is missing', async () => {
	const lacking = { ...credential, dndListPhoneName: '' };
	expect(
		await errorOf({}, { items: [{ phone: '9812345678' }], credential: lacking }),
	).toMatchObject({
		message: 'The credential lacks settings for do-not-disturb lists',
		description: expect.stringContaining("fill in 'Get List: Phone Filter Name'."),
	});
});

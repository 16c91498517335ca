import { service } from '../../engine';
import { InFlight } from '../../engine/inFlight';
import { DETAILS, dndHarness, entry, listOf, PATH } from './dndHarness';

const { records, errorOf } = dndHarness('check', { phone: '={{ $json.phone }}' });
const credential = DETAILS;
const items = [{ phone: '9812345678' }];
const list = (list_phone: string, more: object = {}) =>
	service()
		.get(PATH)
		.query({ list_agent: 'agent_a1', list_phone, ...more });

test.each<[phone: string, searched: string, kept: string[], listed: string | undefined]>([
	['98123 45678', '78', ['+9198123 456780', '+919812345678'], '+919812345678'],
	['+1 (202) 555-0143', '43', ['+12025550143'], '+12025550143'],
	['+44 (0)20 7946 0958', '58', ['+4402079460958'], '+4402079460958'],
	// In groups, as people write it.
	['+442079460958', '58', ['+44 20 7946 0958'], '+44 20 7946 0958'],
	['+33612345678', '78', ['06 12 34 56 79', '+33 6 12 34 56 78'], '+33 6 12 34 56 78'],
	// Only ends alike.
	['9812345678', '78', ['+919912345678'], undefined],
	// A part of another number.
	['98123456', '56', ['+919812345678'], undefined],
])(
	'%s: the service filters, and the node compares the digits',
	async (phone, searched, kept, listed) => {
		list(searched).reply(200, listOf(...kept));
		if (listed === undefined)
			list(phone).reply(200, listOf(...kept.filter((one) => one.includes(phone))));
		expect(await records({}, { items: [{ phone }], credential })).toEqual([
			{
				phone: phone.replace(/\(0\)|[^\d+]/g, ''),
				agent_uuid: 'agent_a1',
				on_dnd: listed !== undefined,
				entry: listed === undefined ? null : entry(listed),
			},
		]);
	},
);

test('a number that may equal an entry is never treated as not listed', async () => {
	list('58').reply(200, listOf('+442079460958'));
	const { message } = await errorOf({}, { items: [{ phone: '020 7946 0958' }], credential });
	expect(message).toContain('and "+442079460958" on the list may be the same number');
});

test.each([-9876543119, 98765.4321])('the number %p of a cell is not looked up', async (phone) => {
	expect((await errorOf({}, { items: [{ phone }], credential })).message).toMatch(/^'Phone' /);
});

test('a list that also has numbers of another agent is not used', async () => {
	const body = listOf('+919812345678', '+919912345678');
	const data = body.data.map((one, index) => ({ ...one, ...(index > 0 && { agent_uuid: 'b2' }) }));
	list('78').reply(200, { ...body, data });
	expect(await errorOf({}, { items, credential })).toMatchObject({
		message: 'The service returned numbers of another agent than the requested one',
		description: expect.stringContaining("'Get List: Agent Parameter Name'"),
	});
});

test('all digits are searched for if the service finds nothing with two', async () => {
	list('78').reply(200, listOf());
	list('9812345678').reply(200, listOf('+919812345678'));
	expect(await records({}, { items, credential })).toMatchObject([{ on_dnd: true }]);
});

test('several numbers are checked at the same time', async () => {
	const inFlight = new InFlight(2);
	for (const digits of ['78', '79']) {
		list(digits).reply(200, async () => {
			await inFlight.enter();
			inFlight.leave();
			return listOf();
		});
	}
	const rows = [...items, { phone: '9812345679' }];
	for (const phone of ['9812345678', '9812345679']) list(phone).reply(200, listOf());
	expect(await records({}, { items: rows, credential })).toHaveLength(2);
	expect(inFlight.max).toBe(2);
});

describe('more than one page', () => {
	const first = { ...listOf(), meta: { current_page: 1, total_pages: 2 } };
	const last = { ...listOf('+919812345678'), meta: { current_page: 2, total_pages: 2 } };

	test('is read twice, also if the first one is empty', async () => {
		// Only the reason changes in between.
		for (const reason of ['asked', 'asked again']) {
			list('78').reply(200, first);
			const data = last.data.map((one) => ({ ...one, reason }));
			list('78', { list_page: 2 }).reply(200, { ...last, data });
		}
		expect(await records({}, { items, credential })).toMatchObject([{ on_dnd: true }]);
	});

	test('needs the name of its parameter', async () => {
		list('78').reply(200, first);
		const lacking = { ...credential, dndListPageName: '' };
		expect(await errorOf({}, { items, credential: lacking })).toMatchObject({
			message: 'The credential lacks settings for do-not-disturb lists',
			description: expect.stringContaining("fill in 'Get List: Page Parameter Name'."),
		});
	});
});

test('sends nothing if the name of the filter is missing', async () => {
	const lacking = { ...credential, dndListPhoneName: '' };
	const { description } = await errorOf({}, { items, credential: lacking });
	expect(description).toContain("fill in 'Get List: Phone Filter Name'.");
});

import { dialects, fixtures } from '.';
import { call, origin } from './testing/api';
import { useSimulator } from './testing/useSimulator';

const agent_uuid = fixtures.agents.full;
const { active } = fixtures.campaigns;

describe.each(Object.values(dialects))('campaigns, dialect $name', (dialect) => {
	const sim = useSimulator({ dialect });
	const push = async (id: number, contacts: unknown, rest: object = {}) =>
		await call(sim(), 'POST', `/v1/campaigns/${id}/contacts`, { agent_uuid, contacts, ...rest });

	it.each([
		['5876543210'],
		['987654321'],
		['98765 43210'],
		['919876543210'],
		['+9198765432101'],
		['+1 2025550143'],
		[9876543210],
		[''],
		[undefined],
	])('names the contact with the phone %j', async (phone) => {
		const got = await push(active, [{ phone: '9876543210' }, { phone }]);
		expect(got.status).toBe(400);
		expect(origin(got)).toContain(`contacts[${1 + dialect.campaigns.firstContactIndex}]`);
		expect(sim().contactsOf(active)).toHaveLength(0);
	});

	it('reports one bad contact or all of them, as the dialect does', async () => {
		const got = await push(active, [{ phone: '1' }, { phone: '2' }]);
		const first = dialect.campaigns.firstContactIndex;
		expect(origin(got)).toContain(`contacts[${first}]`);
		expect(origin(got).includes(`contacts[${first + 1}]`)).toBe(
			dialect.campaigns.reportsEveryBadContact,
		);
	});

	it("has its own rule for a +91 number that isn't a mobile number", async () => {
		const { status } = await push(active, [{ phone: '+911126543210' }]);
		expect(status).toBe(dialect.campaigns.plus91NeedsMobile ? 400 : 200);
	});

	it('takes at most 10,000 contacts', async () => {
		const contacts = Array.from({ length: 10_001 }, (_, i) => ({
			phone: String(9_000_000_000 + i),
		}));
		expect((await push(active, contacts)).status).toBe(400);
		expect(await push(active, contacts.slice(1))).toMatchObject({
			status: 200,
			data: { contacts_accepted: 10_000 },
		});
	});

	it.each([
		[{ contacts: {} }, 'contacts'],
		[{ contacts: undefined }, 'contacts'],
		[{ agent_uuid: 5 }, 'agent_uuid'],
		[{ agent_uuid: undefined }, 'agent_uuid'],
		[{ enqueue: 'yes' }, 'enqueue'],
	])('rejects the body with %j', async (rest, name) => {
		const got = await push(active, [{ phone: '9876543210' }], rest);
		expect(got.status).toBe(400);
		expect(origin(got)).toContain(name);
	});

	it('wants a number for enqueueing only', async () => {
		const rest = { agent_uuid: fixtures.agents.noNumber };
		expect((await push(active, [{ phone: '9876543210' }], rest)).status).toBe(200);
		expect(await push(active, [{ phone: '9876543210' }], { ...rest, enqueue: true })).toMatchObject(
			{
				status: dialect.statuses.noOutboundNumber,
				body: { details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED' } },
			},
		);
	});
});

import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { fixtures } from '../simulator';
import { describeContract } from './contractRing';
import { neverSeen, schemaMismatches } from './schema';

const { agents, dndPhone } = fixtures;
const AGENT = { __rl: true, mode: 'id', value: agents.full };
const NEW = '+919800000001';

describeContract((ring, dialect) => {
	const run = async (parameters: INodeParameters, items?: IDataObject[]) =>
		await ring.run('dnd', { agentUuid: AGENT, ...parameters }, items);
	const records = async (parameters: INodeParameters, items?: IDataObject[]) =>
		await ring.records('dnd', { agentUuid: AGENT, ...parameters }, items);
	const listed = async (phone: string) => (await records({ operation: 'check', phone }))[0]?.listed;

	test('a number is added, found, removed, and then no longer found', async () => {
		expect(await listed(NEW)).toBe(false);
		await records({ operation: 'add', phone: NEW, reason: 'asked on the phone' });
		const [checked] = await records({ operation: 'check', phone: NEW });
		expect(checked).toMatchObject({ listed: true, entry: { reason: 'asked on the phone' } });
		expect(schemaMismatches('Dnd', 'check', checked)).toEqual([]);
		expect(neverSeen('Dnd', 'check', [checked ?? {}])).toEqual([]);

		const [removed] = await records({ operation: 'remove', phone: NEW });
		expect(removed).toEqual({
			deleted: true,
			was_listed: true,
			agent_uuid: agents.full,
			phone: NEW,
			message: dialect.dnd.removedMessage(NEW),
		});
		expect(schemaMismatches('Dnd', 'remove', removed)).toEqual([]);
		expect(neverSeen('Dnd', 'remove', [removed ?? {}])).toEqual([]);
		expect(await listed(NEW)).toBe(false);
	});

	test('a number added without a reason has the service’s own', async () => {
		await records({ operation: 'add', phone: NEW });
		const [checked] = await records({ operation: 'check', phone: NEW });
		expect(checked).toMatchObject({ entry: { reason: dialect.dnd.reason } });
	});

	test('a number that only contains another is not that number', async () => {
		expect(await listed(dndPhone)).toBe(true);
		const [part] = await records({ operation: 'check', phone: dndPhone.slice(0, -2) });
		expect(part).toMatchObject({ listed: false, similar: [{ phone: dndPhone }] });
	});

	test('a number is found in other ways of writing it', async () => {
		expect(await listed('98123 45678')).toBe(true);
		expect(await listed('+91 (98123) 456-78')).toBe(true);
		expect(await listed('09812345678')).toBe(true);
	});

	test('removing what is not listed: told, or done with the switch on', async () => {
		const refused = await run({ operation: 'remove', phone: NEW });
		expect(refused.data.resultData.error?.message).toBe(
			'The number is not on this agent’s do-not-disturb list',
		);
		const lenient = { operation: 'remove', phone: NEW, treatNotListedAsDone: true };
		expect(await records(lenient)).toEqual([
			{
				deleted: true,
				was_listed: false,
				agent_uuid: agents.full,
				phone: NEW,
				message: 'Phone number not found on DND list',
			},
		]);
	});

	test.each(['add', 'check', 'getMany', 'remove'])('%s: an unknown agent', async (operation) => {
		const agentUuid = { __rl: true, mode: 'id', value: 'agent_nobody' };
		const { data } = await run({ operation, agentUuid, phone: NEW });
		expect(data.resultData.error?.message).toContain('does not find this agent');
	});

	test('Get Many: the whole list, each entry once', async () => {
		const found = await records({ operation: 'getMany', returnAll: true });
		expect(new Set(found.map(({ phone }) => phone)).size).toBe(121);
		expect(found).toHaveLength(121);
		expect(schemaMismatches('Dnd', 'getMany', found[0])).toEqual([]);
		expect(neverSeen('Dnd', 'getMany', found)).toEqual([]);
	});

	test('Get Many: up to a limit, over small pages, and filtered', async () => {
		expect(await records({ operation: 'getMany', limit: 7 })).toHaveLength(7);
		const small = { operation: 'getMany', returnAll: true, options: { pageSize: 9 } };
		expect(await records(small)).toHaveLength(121);
		const part = { operation: 'getMany', returnAll: true, phoneContains: '98123' };
		expect(await records(part)).toMatchObject([{ phone: dndPhone }]);
	});

	test('each agent has a list of its own', async () => {
		const items = [{ agent: agents.full }, { agent: agents.us }, { agent: agents.full }];
		const agentUuid = { __rl: true, mode: 'id', value: '={{ $json.agent }}' };
		const found = await records({ operation: 'getMany', returnAll: true, agentUuid }, items);
		expect(found).toHaveLength(122);
	});
});

import { isWanted } from '../../../../nodes/shared/calls/completionFilters';
import { parseList } from '../../../../nodes/shared/values';

describe('filters', () => {
	const all = { status: [], agent_uuid: [], campaign_id: [] };
	const record = { status: 'picked', campaign_id: 42, agent_uuid: 'agent_a' };

	it.each([
		[{}, true],
		[{ status: ['picked', 'failed'] }, true],
		[{ status: ['failed'] }, false],
		[{ campaign_id: ['42'] }, true],
		[{ campaign_id: ['4'] }, false],
		[{ agent_uuid: ['agent_a'], campaign_id: ['42'] }, true],
		[{ agent_uuid: ['agent_b'], campaign_id: ['42'] }, false],
	])('%p: %p', (filters, wanted) => {
		expect(isWanted(record, { ...all, ...filters })).toBe(wanted);
	});

	it('accept a call if one of its values matches, and reject one without the field', () => {
		const several = { status: ['ok', 'picked'] };
		expect(isWanted(several, { ...all, status: ['picked'] })).toBe(true);
		expect(isWanted(several, { ...all, status: ['failed'] })).toBe(false);
		expect(isWanted(several, { ...all, campaign_id: ['undefined'] })).toBe(false);
	});

	it('ignore values of the same name that were captured in the call', () => {
		const captured = { campaign_id: 42, agent_uuid: 'agent_a', status: 'picked' };
		const own = { status: null, campaign_id: null, data_captured: captured };
		for (const [field, value] of Object.entries(captured)) {
			expect(isWanted(own, { ...all, [field]: [String(value)] })).toBe(false);
		}
	});

	it('are entered as a list', () => {
		expect(parseList(' picked, not_picked\nfailed ,,')).toEqual(['picked', 'not_picked', 'failed']);
	});
});

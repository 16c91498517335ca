import type { ColumnChoice, Columns } from '../../../../nodes/PushCampaignContacts/push/columns';

export const defaultChoice: ColumnChoice = {
	phone: 'phone',
	personName: 'person_name',
	others: 'all',
};
export const columns: Columns = {
	phone: 'phone',
	personName: undefined,
	others: 'all',
	notOfAll: new Set(['phone']),
};
export const contactItems = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ json: { phone: String(9_000_000_000 + index) } }));

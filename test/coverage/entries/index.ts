import type { SectionEntries } from '../entry';
import { callEntries } from './calls';
import { campaignEntries } from './campaigns';
import { chatEntries } from './chat';
import { endpointEntries } from './endpoints';
import { generalEntries } from './general';
import { socketEntries } from './socket';

export const entries: SectionEntries[] = [
	...endpointEntries,
	...callEntries,
	...campaignEntries,
	...chatEntries,
	...socketEntries,
	...generalEntries,
];

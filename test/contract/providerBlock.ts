import { MAPPING_TOPICS } from '../../nodes/shared/apiMapping/topics';
import type { apiMappingOf } from './credentialFor';

/** What a provider writes for *Settings From Your Provider* whose customer would fill in these fields. */
export function providerSettingsOf(fields: ReturnType<typeof apiMappingOf>) {
	const values = new Map(Object.entries(fields));
	return Object.fromEntries(
		MAPPING_TOPICS.map((topic) => [
			topic.name,
			Object.fromEntries(Object.keys(topic.fields).map((name) => [name, values.get(name) || null])),
		]),
	);
}

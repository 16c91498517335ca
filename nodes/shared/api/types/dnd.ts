/** Resources › DND entry. */
export type DndEntry = {
	id: number;
	agent_uuid: string;
	/** International form. */
	phone: string;
	reason: string;
	created_at: string;
};

/** `meta` of `GET /v1/dnd_numbers`. */
export type PageMeta = {
	current_page: number;
	total_pages: number;
	total_count: number;
	/** At most 100. */
	per_page: number;
};

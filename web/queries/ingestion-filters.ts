// The filters of the ingestion log, by the names of the API.

export type IngestionFilters = {
  code?: string | undefined;
  keyId?: string | undefined;
  serviceName?: string | undefined;
};
